// Elements and icons. Texts become text nodes and nothing else; the page's policy forbids more.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  correct: "M6.5 12.5l3.5 3.5 7.5-8",
  incorrect: "M8 8l8 8M16 8l-8 8",
  invalid: "M7.5 12h9",
  undecided: "M9.6 9.6a2.5 2.5 0 1 1 3.7 2.2c-.9.5-1.3 1-1.3 1.9M12 16.6v.1",
  unparsed: "M8 9h8M8 12h3M14 12h2M8 15h5",
  failed: "M12 7.5v5.2M12 16.3v.1",
  error: "M12 16.5v-9M8.5 11L12 7.5l3.5 3.5",
  waiting: "M12 8v4.2l2.6 1.6",
};

/** An element; children that are null or false are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** A round sign for a verdict (filled) or for the lack of one (a broken ring); decoration only. */
export function icon(state) {
  const svg = document.createElementNS(SVG, "svg");
  const ring = document.createElementNS(SVG, "circle");
  const path = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({ cx: 12, cy: 12, r: 10.5 })) ring.setAttribute(name, value);
  path.setAttribute("d", ICONS[state]);
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `icon ${state}`);
  svg.append(ring, path);
  return svg;
}

/** Announce a text to screen readers without moving the focus. */
export function announce(text) {
  byId("status").textContent = text;
}

const TYPES = { jsonl: "application/x-ndjson", csv: "text/csv", tsv: "text/tab-separated-values", yaml: "application/yaml" };

/** Offer `text` to the browser as a file. */
export function download(name, text) {
  const mark = /\.[ct]sv$/i.test(name) && /[^\0-\x7f]/.test(text) ? "\uFEFF" : ""; // by which Excel knows UTF-8
  const address = URL.createObjectURL(new Blob([mark, text], { type: TYPES[name.split(".").at(-1)] }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Call `open` with a file that is dropped anywhere on the page, while `zones` show that it may be.
 *
 * Without this the browser would leave the page and open the file.
 */
export function onDrop(zones, open) {
  const over = (on) => (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    for (const zone of zones) zone.classList.toggle("over", on);
  };
  addEventListener("dragover", over(true));
  addEventListener("dragleave", over(false));
  addEventListener("drop", (event) => {
    over(false)(event);
    const [dropped] = event.dataTransfer?.files ?? [];
    if (dropped) open(dropped);
  });
}
