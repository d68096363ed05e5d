// A file that the server read: its rows, their names, the labels that the browser keeps, and the rows that cannot be judged.

import { readRows } from "./api.js";
import { writeTable } from "./csv.js";
import { h } from "./dom.js";
import { number, t } from "./language.js";
import { noted } from "./notes.js";
import { askForKey } from "./one.js";
import { keep, recall } from "./store.js";

const LAST = "gradegpt.sheet";
const PUPIL = /^(学号|考号|座号|准考证号|姓名|学生|学生姓名|name|student|pupil|(student|pupil)[ _]?(id|no|number|name))$/i;
const WORDS = ["result", "in_words", "结果", "理由"]; // the columns of a download for people, in each language
const SHOWN = 50;

/**
 * The file as `[file, null]`, or `[null, trouble, sheets]` with a function that says why it cannot be used, and with the
 * sheets of a workbook of which one is to be chosen; `reading` as in readRows.
 */
export async function readFile(chosen, reading = {}) {
  try {
    return chosen.size ? [fileOf(chosen.name, await readRows(chosen, reading)), null] : [null, () => t("file.nothing", { name: chosen.name })];
  } catch (error) {
    if (!(error instanceof DOMException) && error.status === undefined) throw error;
    if ([401, 403].includes(error.status)) askForKey();
    return [null, () => (error.status === undefined ? t("file.unreadable", { name: chosen.name }) : noted(error.message)), sheetsIn(error.message)];
  }
}

/** The names that the server quotes where a workbook has rows in several sheets. */
function sheetsIn(message) {
  const [, names = ""] = /has the sheets (.*); choose one/.exec(message) ?? [];
  return [...names.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, name, other]) => name ?? other);
}

/**
 * `all` the rows of a file, `rows` those that can be judged, and `bad` the others.
 *
 * `columns` are those of the file, `every` has those of an earlier judgement too, which a download has anew. A row is
 * known by its `name`: its id, else the pupil (`named` says which), else its place among the rows. `beside` are its other
 * columns, which hold no field of an item. Rows with the same answer to the same question have the same `same`, those of one question the same `asked`. `key` is a
 * hash of all rows, and `asks` are the questions of a class list that have no references.
 */
function fileOf(name, { columns: every, added, fields, notes, rows, asks, key = hash(JSON.stringify(rows.map(({ row }) => row))) }) {
  const earlier = added.length ? [...added, ...WORDS] : [];
  const columns = every.filter((column) => !earlier.includes(column));
  const read = Object.values(fields);
  const others = columns.filter((column) => !read.includes(column));
  const pupil = fields.id ? [] : others.filter((column) => PUPIL.test(column.trim()));
  const all = rows.map(({ where, row, item, label = null, problem, index }, at) => {
    const beside = others.map((column) => [column, row[column]]).filter(([, value]) => ["string", "number"].includes(typeof value) && value !== "");
    const own = beside.filter(([column]) => pupil.includes(column)).map(([, value]) => value).join(" ");
    return { index: index ?? at, where, item, same: sameOf(item), asked: item && askedOf(item), source: row, label, given: label, problem, name: fields.id && item ? item.id : own, beside, judgement: null, own: null, error: null };
  });
  const named = fields.id ? "id" : pupil.length ? "pupil" : "row";
  return { name, key, asks, columns, every, added, fields, notes, named, pupil, all, rows: all.filter((row) => row.item), bad: all.filter((row) => !row.item) };
}

/** Blanks at the ends, and how many there are, make no other answer. */
const sameOf = (item) => item && JSON.stringify({ ...item, id: "", response: item.response.trim().replace(/\s+/g, " ") });

/** The question without case, blanks and punctuation, or else the references. */
const askedOf = ({ context = "", question = "", reference }) =>
  (`${context}\n${question}`.trim() || [reference].flat().join(" ")).normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Give a label to a row and to all with the same answer. */
export function give(rows, row, label) {
  for (const other of rows) if (other.same === row.same) other.label = label;
}

/** How many rows get a label at once; words where they are several. */
export function alike(rows, { same }) {
  const n = rows.filter((row) => row.same === same).length;
  return n > 1 ? h("p", { class: "quiet" }, t("label.same", { n: number(n) })) : null;
}

/** The name of a row in a table or a list. */
export const nameOf = (row) => row.name || number(row.index + 1);

/** The rows that cannot be judged, with the reasons, in a box that has a summary and a list. */
export function renderBad(box, bad) {
  box.hidden = !bad.length;
  const line = ({ where, name, problem }) => h("li", {}, h("b", {}, noted(where)), " ", name ? `${name} ` : "", noted(problem).replaceAll("\n", "; "));
  const more = bad.length > SHOWN ? [h("li", {}, t("file.bad.more", { n: number(bad.length - SHOWN) }))] : [];
  box.querySelector("summary").textContent = badHeading(bad);
  box.querySelector("ul").replaceChildren(...bad.slice(0, SHOWN).map(line), ...more);
}

export const badHeading = (bad) => (!bad.length ? "" : bad.length === 1 ? t("file.bad.one") : t("file.bad", { n: number(bad.length) }));

export const isLines = (name) => /\.(jsonl|ndjson|json)$/i.test(name);

/** The column of the labels, by a name that every reader knows; null where there is no label. */
export const labelColumn = ({ fields, rows }) => fields.label ?? (rows.some((row) => row.label) ? t("column.label").toLowerCase() : null);

/** A row as it was in the file, with its label in `column` where it was labelled since. */
export const withLabel = ({ source, label, given }, column, said = String) => (label === given ? source : { ...source, [column]: label && said(label) });

/** A sheet as a file, with the labels in their column; all else as it was. */
export function writeSheet(sheet) {
  const column = labelColumn(sheet) ?? "label";
  const rows = sheet.all.map((row) => withLabel(row, column));
  if (isLines(sheet.name)) return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  return writeTable([...new Set([...sheet.every, column])], rows, /\.tsv$/i.test(sheet.name) ? "\t" : ",");
}

const keyOf = ({ key }) => `gradegpt.labels.${key}`;
const keptLabels = (sheet) => JSON.parse(recall(keyOf(sheet)) ?? "{}");

/** Keep the labels of a file under the hash of its content; false where the browser does not. */
export function keepLabels(sheet) {
  const labels = keptLabels(sheet);
  for (const { index, label, given } of sheet.rows) if (label !== given || index in labels) labels[index] = label;
  return keep(keyOf(sheet), JSON.stringify(labels));
}

/** Give the rows of a file the labels that are kept, if any are. */
export function recallLabels(sheet) {
  const labels = keptLabels(sheet);
  for (const row of sheet.rows) if (row.index in labels) row.label = labels[row.index];
  return sheet;
}

/** Keep the sheet itself as the last one, so that a reload needs no file. */
export function keepSheet({ name, key, every, added, fields, notes, all, ofFile }) {
  const rows = all.map(({ index, where, source, item, given, problem }) => ({ index, where, row: source, item, label: given, problem }));
  return keep(LAST, JSON.stringify([name, { key, columns: every, added, fields, notes, rows }, ofFile]));
}

/** The name of the judged file whose rows were labelled last; undefined where that was another sheet. */
export function labelledFile() {
  const kept = JSON.parse(recall(LAST) ?? "[]");
  return kept[2] ? kept[0] : undefined;
}

export function recallSheet() {
  const kept = JSON.parse(recall(LAST) ?? "null");
  return Array.isArray(kept) ? recallLabels(fileOf(...kept)) : null;
}

export function forget(sheet) {
  keep(LAST, null);
  keep(keyOf(sheet), null);
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
