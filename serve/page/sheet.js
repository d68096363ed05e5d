// A sheet of items to label, from gradegpt eval.estimate --pick: read, kept in the browser, written.

import { TableError, isTable, parseTable, separatorOf, writeTable } from "./csv.js";
import { readLabel } from "./labels.js";
import { parsed } from "./lines.js";
import { keep, recall } from "./store.js";

const LAST = "gradegpt.sheet";
const NEEDED = ["reference", "response"];

/**
 * The sheet in a text, `{name, text, columns, rows, labels}`; a label is a verdict or null.
 *
 * Throws a `TableError` where the text is no sheet.
 */
export function readSheet(name, text) {
  const { columns, rows } = isTable(name) ? tableRows(name, text) : lineRows(text);
  const missing = NEEDED.find((column) => !columns.includes(column));
  if (missing) throw new TableError("bad.column", { field: missing, columns: columns.join(", ") });
  if (!rows.length) throw new TableError("sheet.empty", { name });
  return { name, text, columns, rows: rows.map(({ value }) => value), labels: rows.map(labelOf) };
}

function tableRows(name, text) {
  const { columns, rows } = parseTable(text, separatorOf(name));
  const odd = rows.find(({ cells }) => cells.length !== columns.length);
  if (odd) throw new TableError("bad.at", { n: odd.line, what: ["bad.cells", { n: odd.cells.length, columns: columns.length }] });
  return { columns, rows: rows.map(({ line, cells }) => ({ line, value: Object.fromEntries(columns.map((column, at) => [column, cells[at]])) })) };
}

function lineRows(text) {
  const rows = text.split("\n").flatMap((line, at) => (line.trim() ? [{ line: at + 1, ...parsed(line) }] : []));
  const odd = rows.find(({ complaint }) => complaint);
  if (odd) throw new TableError("bad.at", { n: odd.line, what: odd.complaint });
  return { columns: [...new Set(rows.flatMap(({ value }) => Object.keys(value)))], rows };
}

function labelOf({ line, value }) {
  const label = readLabel(value.label);
  if (label === undefined) throw new TableError("bad.at", { n: line, what: ["bad.label", { field: "label", value: JSON.stringify(value.label) }] });
  return label;
}

/** The sheet as a file of its form, with the labels in its column `label`; all else as it was. */
export function writeSheet({ name, text, columns, rows }, labels) {
  if (!isTable(name)) return rows.map((row, at) => `${JSON.stringify({ ...row, label: labels[at] })}\n`).join("");
  const all = columns.includes("label") ? columns : [...columns, "label"];
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : ""; // without it Excel misreads Chinese
  return mark + writeTable(all, rows.map((row, at) => ({ ...row, label: labels[at] })), separatorOf(name));
}

/** Keep the labels of a sheet under the hash of its content; false where the browser does not. */
export function keepLabels({ text }, labels) {
  return keep(`gradegpt.labels.${hash(text)}`, JSON.stringify(labels));
}

/** The kept labels of a sheet; null where there are none. */
export function recallLabels({ text, rows }) {
  const labels = JSON.parse(recall(`gradegpt.labels.${hash(text)}`) ?? "null");
  return labels?.length === rows.length ? labels : null;
}

/** Keep the sheet itself as the last one, so that a reload needs no file. */
export const keepSheet = ({ name, text }) => keep(LAST, JSON.stringify({ name, text }));

export function recallSheet() {
  const kept = JSON.parse(recall(LAST) ?? "null");
  return kept ? readSheet(kept.name, kept.text) : null;
}

export function forget({ text }) {
  keep(LAST, null);
  keep(`gradegpt.labels.${hash(text)}`, null);
}

/** 64 bits of FNV-1a; the browser's own hashes exist only under https. */
function hash(text) {
  const half = (start) => {
    let value = start;
    for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
    return (value >>> 0).toString(16).padStart(8, "0");
  };
  return half(0x811c9dc5) + half(0x9747b28c);
}
