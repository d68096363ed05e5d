// The page: tables that sort, and the list of items. Texts are only ever set as text.

const PAGE = 50;
const END = 40; // characters at the end of a response in which no judge names an answer
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const form = byId("filters");
let view = readView(location.hash);
let rows = [];
let cursor = -1; // the place in `rows` of the item that was open last

/** An element with properties and children, each an element or a text. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const word = (verdict) => make("span", { className: `word ${verdict}` }, say(verdict));
const judge = (i) => make("span", { className: `judge c${i % 6}` }, data.judges[i]);

// --- tables ---

for (const button of document.querySelectorAll(".sortable th button")) {
  button.addEventListener("click", () => sortBy(button.closest("th")));
}

function sortBy(head) {
  const body = head.closest("table").tBodies[0];
  const upwards = head.getAttribute("aria-sort") === "descending";
  const key = (line) => {
    const cell = line.cells[head.cellIndex];
    const value = cell.dataset.value ?? cell.textContent.trim();
    return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (a === "" || b === "") return (a !== "") - (b !== "");
    return String(a).localeCompare(String(b));
  };
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
  const sorted = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (upwards ? 1 : -1));
  body.append(...sorted);
}

// --- one item ---

/** The judges in the order of their columns, then the label. */
function legend() {
  const names = data.judges.map((_, i) => judge(i));
  if (data.rows.some((row) => row.label)) names.push(make("span", {}, say("label")));
  byId("items").style.setProperty("--columns", names.length);
  byId("items").classList.toggle("single", names.length === 1);
  return names.length > 1 ? [say("Verdicts, from the left: "), ...names] : [];
}

/** A verdict as a narrow column: its sign, with the words for a pointer or a screen reader. */
function narrow(who, verdict) {
  return make("span", { className: `word ${verdict}`, title: `${say(who)}: ${say(verdict)}` }, say(verdict));
}

function line(row) {
  const short = (text) => text.replace(/\s+/g, " ").trim();
  const response = short(row.response ?? "");
  const end = response.length > END ? `…${response.slice(-END)}` : response;
  const given = row.said.find((one) => one.answer)?.answer ?? end;
  const said = row.said.map((one, i) => narrow(data.judges[i], one.verdict));
  const label = row.label ? narrow("label", row.label) : null;
  return make("summary", {},
    make("span", { className: "title" }, short(row.question ?? row.context ?? "").slice(0, 240)),
    make("span", { className: "expected" }, short(row.reference.join(" · ")).slice(0, 160)),
    make("span", { className: "given" }, short(given).slice(0, 160)),
    make("span", { className: "verdicts" }, ...said, label),
    make("span", { className: "id" }, row.id));
}

function field(name, ...content) {
  return make("section", {}, make("h3", {}, say(name)), ...content);
}

function details(row) {
  const text = (value) => make("p", { className: "text" }, value);
  const spans = row.said.map((one) => find(one.quote, row.response ?? "")).filter(Boolean);
  const response = marked(row.response ?? "", spans).map(([part, quoted]) =>
    quoted ? make("mark", {}, part) : part);
  const tags = tagsOf(row).map((tag) =>
    make("a", { className: "tag", href: `#${new URLSearchParams({ tag })}` }, say(tag)));
  return make("div", { className: "details" },
    make("div", { className: "texts" },
      row.context ? field("Context", text(row.context)) : null,
      row.question ? field("Question", text(row.question)) : null,
      field(row.reference.length > 1 ? "References" : "Reference", ...row.reference.map(text)),
      field("Response", row.response ? make("p", { className: "text" }, ...response)
        : make("p", { className: "soft" }, say("empty"))),
      row.cut ? make("p", { className: "soft" }, say("Long texts are shortened at “…”.")) : null),
    make("div", { className: "judgements" },
      row.label ? field("Label", word(row.label)) : null,
      ...row.said.map((one, i) => judgement(one, i, row)),
      make("p", { className: "tags" }, ...tags)));
}

function judgement(one, i, row) {
  const sure = one.confidence === undefined ? "" : say(`${(100 * one.confidence).toFixed(1)} % sure`);
  const known = { "not sure enough of": one.withheld && say(one.withheld), method: say(one.method), reason: one.words ? say(one.words) : one.reason, answer: one.answer };
  const facts = Object.entries(known).filter(([, value]) => value).flatMap(([name, value]) =>
    [make("dt", {}, say(name)), make("dd", {}, value)]);
  const lost = one.quote && !find(one.quote, row.response ?? "");
  return make("section", {},
    make("h3", {}, judge(i)),
    make("p", {}, word(one.verdict), " ", sure),
    make("dl", {}, ...facts,
      ...(lost ? [make("dt", {}, say("quote")),
        make("dd", {}, one.quote, make("em", {}, say(" (not in the response as shown)")))] : [])),
    one.chain ? make("details", {}, make("summary", {}, say("Chain")),
      make("p", { className: "text" }, one.chain)) : null);
}

function item(row) {
  const box = make("details", { className: "item" }, line(row));
  const fill = () => box.open && box.children.length === 1 && box.append(details(row));
  box.dataset.n = row.n;
  box.open = String(row.n) === view.item;
  fill();
  box.addEventListener("toggle", () => {
    fill();
    if (box.open) select(row);
    else if (view.item === String(row.n)) set({ item: "" });
  });
  return make("li", {}, box);
}

// --- the list ---

function draw() {
  rows = chosen(data.rows, data.judges, view);
  const last = Math.max(1, Math.ceil(rows.length / PAGE));
  const at = rows.findIndex((row) => String(row.n) === view.item);
  const page = at >= 0 ? 1 + Math.floor(at / PAGE) : Math.min(last, Math.max(1, Number(view.page) || 1));
  set({ page: String(page), item: at >= 0 ? view.item : "" });
  const from = (page - 1) * PAGE;
  cursor = at >= 0 ? at : from - 1;
  const shown = rows.slice(from, from + PAGE);
  byId("list").replaceChildren(...shown.map(item));
  byId("list").start = from + 1;
  const [n, all] = [rows.length, data.rows.length].map((one) => one.toLocaleString("en"));
  const count = `${n} of ${all} ${data.rows.length === 1 ? "item" : "items"}`;
  byId("shown").textContent = say(rows.length ? count : `${count}: nothing fits these filters`);
  drawPages(page, last);
  for (const name of ["csv", "jsonl"]) byId(name).disabled = !rows.length;
  for (const control of form.elements) if (control.name) control.value = view[control.name];
}

function drawPages(page, last) {
  const to = (name, wanted) => make("button", {
    type: "button", disabled: wanted < 1 || wanted > last,
    onclick: () => { set({ page: String(wanted), item: "" }); draw(); show(); },
  }, name);
  byId("pages").hidden = last === 1;
  byId("pages").replaceChildren(
    to(say("← previous"), page - 1), make("span", {}, say(`page ${page} of ${last}`)), to(say("next →"), page + 1));
}

/** Change the view and the address, which can be shared; nothing is drawn. */
function set(changes) {
  view = { ...view, ...changes };
  if (writeView(view) !== writeView(readView(location.hash))) {
    history.replaceState(null, "", `#${writeView(view)}`);
  }
}

function select(row) {
  set({ item: String(row.n) });
  cursor = rows.indexOf(row);
  for (const other of document.querySelectorAll(".item[open]")) {
    if (other.dataset.n !== view.item) other.open = false;
  }
}

/** Open the next item, or the one before it, on another page where it must be. */
function step(by) {
  const row = rows[Math.min(rows.length - 1, Math.max(0, cursor + by))];
  if (!row) return;
  const box = document.querySelector(`.item[data-n="${row.n}"]`);
  if (box) box.open = true;
  select(row);
  if (!box) draw();
  document.querySelector(".item[open] summary").focus({ preventScroll: true });
  show();
}

/** Bring the open item, or the list, into sight. */
function show() {
  (document.querySelector(".item[open]") ?? byId("items")).scrollIntoView();
}

function download(name, kind, text) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// --- events ---

let waiting;
form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    set({ ...Object.fromEntries(new FormData(form)), page: "1", item: "" });
    draw();
  }, 120);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  set(VIEW);
  draw();
});
byId("csv").onclick = () =>
  // A spreadsheet takes the mark at the start for UTF-8.
  download(`${data.name}.csv`, "text/csv", `\ufeff${asCSV(rows, data.judges)}`);
byId("jsonl").onclick = () =>
  download(`${data.name}.jsonl`, "application/jsonl", asJSONLines(rows, data.judges));
addEventListener("hashchange", () => {
  if (/^#[^=]+$/.test(location.hash)) return; // a place on the page, not a view
  view = readView(location.hash);
  draw();
  show();
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
  if (event.key === "/") {
    event.preventDefault();
    form.elements.q.focus();
  }
});

byId("legend").append(...legend());
const tags = [...new Set(data.rows.flatMap(tagsOf))].sort();
form.elements.tag.append(...tags.map((tag) => make("option", { value: tag }, say(tag))));
form.elements.tag.closest("label").hidden = !tags.length;
draw();
if (location.hash.includes("=")) show();
document.documentElement.dataset.ready = ""; // the list is drawn
