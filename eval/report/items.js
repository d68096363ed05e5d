"use strict";
// Which items are listed, and their texts: without the document, so that it can be tested alone.

const VIEW = {
  q: "", agreement: "", verdict: "", judge: "", label: "", tag: "", sort: "", page: "1", item: "",
};
const VERDICTS = ["correct", "incorrect", "invalid"];

/** The view of an address's fragment; settings that it does not name have their defaults. */
function readView(fragment) {
  const named = new URLSearchParams(fragment.replace(/^#/, ""));
  return Object.fromEntries(Object.keys(VIEW).map((key) => [key, named.get(key) ?? VIEW[key]]));
}

/** The fragment of a view: only the settings that differ from their defaults. */
function writeView(view) {
  const changed = Object.keys(VIEW).filter((key) => view[key] !== VIEW[key]);
  return String(new URLSearchParams(changed.map((key) => [key, view[key]])));
}

/** "tag: value" for each tag of a row. */
function tagsOf(row) {
  return Object.entries(row.tags ?? {}).flatMap(([tag, values]) => values.map((v) => `${tag}: ${v}`));
}

/** Correct or not, or null where there is no verdict. */
function twoWay(verdict) {
  return VERDICTS.includes(verdict) ? verdict === "correct" : null;
}

/** Whether any of the known values differ. */
function differ(values) {
  return new Set(values.filter((value) => value !== null)).size > 1;
}

function agrees(row, said, wanted) {
  const label = twoWay(row.label);
  const verdicts = said.map((one) => twoWay(one.verdict));
  if (wanted === "label") return verdicts.some((one) => differ([label, one]));
  const all = row.said.map((one) => twoWay(one.verdict));
  if (wanted === "judges") return differ(all);
  return !differ([label, ...all]);
}

/** All text of a row that a search reads. */
function textOf(row) {
  const said = row.said.flatMap((one) => [one.reason, one.method, one.quote, one.answer]);
  const texts = [
    row.id, row.context, row.question, ...row.reference, row.response, ...said, ...tagsOf(row),
  ];
  return texts.join("\n").toLowerCase();
}

/** The rows of a view, in its order. */
function chosen(rows, judges, view) {
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (row) => {
    const said = view.judge ? [row.said[judges.indexOf(view.judge)]].filter(Boolean) : row.said;
    if (view.verdict && !said.some((one) => one.verdict === view.verdict)) return false;
    if (view.label && (row.label ?? "none") !== view.label) return false;
    if (view.agreement && !agrees(row, said, view.agreement)) return false;
    if (view.tag && !tagsOf(row).includes(view.tag)) return false;
    if (!words.length) return true;
    row.text ??= textOf(row);
    return words.every((word) => row.text.includes(word));
  };
  const least = (row) => Math.min(1, ...row.said.map((one) => one.confidence ?? 1));
  const orders = {
    file: (a, b) => a.n - b.n,
    unsure: (a, b) => least(a) - least(b) || a.n - b.n,
  };
  const kept = rows.filter(fits);
  return view.sort in orders ? kept.sort(orders[view.sort]) : kept;
}

/**
 * The last place of `quote` in `text` as [start, end], or null.
 *
 * The last, because the final answer of a response is at its end. A quote that differs in blanks is
 * found too, and so is one in which the judge saw "‹" for a "<".
 */
function find(quote, text) {
  const squeezed = (from) => {
    const places = [];
    for (let at = 0; at < from.length; at += 1) if (!/\s/.test(from[at])) places.push(at);
    return [places.map((at) => (from[at] === "‹" ? "<" : from[at])).join(""), places];
  };
  const [sought] = squeezed(quote ?? "");
  const [letters, places] = squeezed(text);
  const at = sought ? letters.lastIndexOf(sought) : -1;
  return at < 0 ? null : [places[at], places[at + sought.length - 1] + 1];
}

/** A text cut into [part, whether it is quoted]; adjacent spans are merged. */
function marked(text, spans) {
  const parts = [];
  let end = 0;
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    if (from > end || !parts.length) parts.push([text.slice(end, from), false], ["", true]);
    if (to > end) parts.at(-1)[0] += text.slice(Math.max(from, end), to);
    end = Math.max(end, to);
  }
  return [...parts, [text.slice(end), false]].filter(([part]) => part);
}

/** A row for a download, without the fields that only the page needs. */
function exported(row, judges) {
  const { n, interest, text, said, ...rest } = row;
  return { ...rest, judgements: Object.fromEntries(judges.map((name, i) => [name, said[i]])) };
}

function asJSONLines(rows, judges) {
  return rows.map((row) => `${JSON.stringify(exported(row, judges))}\n`).join("");
}

/** The rows as RFC 4180 has them, a judge's columns named after it where there are several. */
function asCSV(rows, judges) {
  const tags = [...new Set(rows.flatMap((row) => Object.keys(row.tags ?? {})))];
  const of = ["verdict", "confidence", "withheld", "method", "reason", "answer", "quote", "chain"];
  const head = ["id", "question", "context", "reference", "response", "label", ...tags];
  const own = judges.flatMap((name) => of.map((key) => (judges.length > 1 ? `${name} ${key}` : key)));
  const lines = rows.map((row) => [
    row.id, row.question, row.context, row.reference.join("\n"), row.response, row.label,
    ...tags.map((tag) => row.tags?.[tag]?.join("\n")),
    ...row.said.flatMap((one) => of.map((key) => one[key])),
  ]);
  const cell = (value) => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [[...head, ...own], ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}
