// Files of rows to judge in, judgements out: JSON Lines, CSV and TSV, read as the command line reads them.

import { TableError, isTable, parseTable, separatorOf, writeTable } from "./csv.js";
import { readLabel } from "./labels.js";
import { t } from "./language.js";

const TEXTS = ["id", "question", "response", "context", "tolerance"];
const KNOWN = new Set([...TEXTS, "reference", "answer_type", "needs", "meta"]);
const LABELS = new Set(["label", "verdict", "labelled_by", "lang", "source", "drawn"]);
const NEEDS = ["all", "any"];
const ADDED = ["verdict", "confidence", "outcome", "withheld", "method", "reason", "answer"]; // columns of a judged table
export const ANSWER_TYPES = [
  "single_choice", "multiple_choice", "true_false", "number", "set", "interval", "expression",
  "equation", "tuple", "multi_part", "multi_answer", "code", "text",
];
const BATCH = 2000;

/**
 * The rows of a file, and what is wrong with the lines that are none.
 *
 * A complaint is `[key, values]` and becomes words when it is shown. `label` is true for correct,
 * false for incorrect and invalid, null where the row has none; `given` is what the file says.
 * `columns` are the names of all fields, and `source` is a row as it is in the file.
 */
export async function readFile(name, bytes) {
  const found = { rows: [], bad: [], ignored: new Map(), columns: [] };
  if (isTable(name)) readTable(bytes, separatorOf(name), found);
  else await readLines(bytes, found);
  if (!isTable(name)) found.columns = [...new Set(found.rows.flatMap((row) => Object.keys(row.source)))];
  return found;
}

async function readLines(bytes, found) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    const stop = bytes.indexOf(10, start);
    const end = stop < 0 ? bytes.length : stop;
    line += 1;
    take(bytes.subarray(start, end), line, decoder, found);
    start = end + 1;
    if (line % BATCH === 0) await new Promise((resume) => setTimeout(resume)); // let the page breathe
  }
}

function readTable(bytes, separator, found) {
  let table;
  try {
    table = parseTable(new TextDecoder("utf-8", { fatal: true }).decode(bytes), separator);
  } catch (error) {
    const complaint = error instanceof TableError ? error.complaint : ["bad.utf8"];
    if (!(error instanceof TableError || error instanceof TypeError)) throw error;
    found.bad.push({ line: complaint[1]?.n ?? 1, text: "", complaint });
    return;
  }
  found.columns = table.columns;
  const missing = ["reference", "response"].find((name) => !table.columns.includes(name));
  if (missing) {
    found.bad.push({ line: 1, text: "", complaint: ["bad.column", { field: missing, columns: table.columns.join(", ") }] });
    return;
  }
  for (const { line, cells } of table.rows) {
    const odd = cells.length !== table.columns.length ? ["bad.cells", { n: cells.length, columns: table.columns.length }] : null;
    const value = Object.fromEntries(table.columns.map((name, at) => [name, cells[at]]));
    add(odd ? { complaint: odd } : readRow(structured(value)), value, line, cells.join(separator), found);
  }
}

/** A table's row as an object: empty cells are no values, and lists are read. */
function structured(value) {
  const kept = Object.entries(value).filter(([name, cell]) => name && (cell !== "" || name === "response"));
  const read = ([name, cell]) => [name, ["reference", "meta"].includes(name) ? listed(cell) : cell];
  return Object.fromEntries(kept.map(read));
}

function listed(cell) {
  try {
    const value = /^\s*[[{]/.test(cell) ? JSON.parse(cell) : cell;
    return typeof value === "object" ? value : cell;
  } catch {
    return cell; // an interval such as [1, 2), which is no JSON
  }
}

function take(raw, line, decoder, found) {
  let text;
  try {
    text = decoder.decode(raw);
  } catch {
    found.bad.push({ line, text: "", complaint: ["bad.utf8"] });
    return;
  }
  if (!text.trim()) return;
  const value = parsed(text);
  add(value.complaint ? value : readRow(value.value), value.value, line, text, found);
}

function add(read, source, line, text, found) {
  if (read.complaint) {
    found.bad.push({ line, text: text.trim().slice(0, 200), complaint: read.complaint });
    return;
  }
  for (const name of read.ignored) found.ignored.set(name, (found.ignored.get(name) ?? 0) + 1);
  const { item, label, given } = read;
  if (!item.id) item.id = String(line);
  found.rows.push({ index: found.rows.length, line, item, label, given, source, judgement: null, error: null });
}

/** The object of a line as `{value}`, or its error. */
export function parsed(text) {
  let value;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { complaint: ["bad.json", { message: error.message }] };
  }
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
  return isObject ? { value } : { complaint: ["bad.object"] };
}

/** A row as `{item, label, given, ignored}`, or its error. */
function readRow(value) {
  const complaint = wrongWith(value) ?? wrongLabel(value);
  if (complaint) return { complaint };
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  const item = Object.fromEntries(names.filter((name) => KNOWN.has(name)).map((name) => [name, value[name]]));
  const given = value.label ?? value.verdict ?? null;
  const ignored = names.filter((name) => !KNOWN.has(name) && !LABELS.has(name));
  return { item, given, label: truth(given), ignored };
}

function wrongWith(value) {
  const missing = ["reference", "response"].find((name) => value[name] === undefined);
  if (missing) return ["bad.missing", { field: missing }];
  const optional = (name) => value[name] === undefined || (value[name] === null && ["context", "tolerance"].includes(name));
  const odd = TEXTS.find((name) => !optional(name) && typeof value[name] !== "string");
  if (odd) return ["bad.text", { field: odd }];
  const accepted = [value.reference].flat();
  if (!accepted.length || accepted.some((text) => typeof text !== "string")) return ["bad.reference"];
  if (accepted.some((text) => !text.trim())) return ["bad.reference.empty"];
  if (value.meta !== undefined && (value.meta === null || typeof value.meta !== "object" || Array.isArray(value.meta))) return ["bad.meta"];
  return wrongChoice(value, "answer_type", ANSWER_TYPES) ?? wrongChoice(value, "needs", NEEDS);
}

function wrongChoice(value, field, names) {
  const chosen = value[field] ?? null;
  if (chosen === null || names.includes(chosen)) return null;
  return ["bad.choice", { field, value: JSON.stringify(chosen), names: names.join(", ") }];
}

function wrongLabel(value) {
  const fields = ["label", "verdict"].filter((field) => readLabel(value[field]) !== null);
  const odd = fields.find((field) => readLabel(value[field]) === undefined);
  if (odd) return ["bad.label", { field: odd, value: JSON.stringify(value[odd]) }];
  const apart = fields.length === 2 && truth(value.label) !== truth(value.verdict);
  return apart ? ["bad.labels"] : null;
}

/** Whether a label means "correct"; null where there is none. */
function truth(label) {
  const verdict = readLabel(label);
  return verdict ? verdict === "correct" : null;
}

/** The judgements of `rows`, one per line, as the command line writes them, with the label. */
export function writeLines(rows) {
  const judged = rows.filter((row) => row.judgement);
  const value = (row) => (row.given === null ? row.judgement : { ...row.judgement, label: row.given });
  return judged.map((row) => `${JSON.stringify(value(row))}\n`).join("");
}

/** The judged rows of a file as a table, as the command line writes it: its columns and those of a judgement. */
export function writeJudged(rows, columns) {
  const names = Object.fromEntries(ADDED.map((field) => [field, free(field, columns)]));
  const judged = rows.filter((row) => row.judgement);
  const added = (judgement) => Object.fromEntries(ADDED.map((field) => [names[field], judgement[field]]));
  const lines = judged.map((row) => ({ ...row.source, ...added(row.judgement) }));
  return writeTable([...columns, ...Object.values(names)], lines, ",");
}

const free = (name, columns) => (columns.includes(name) ? free(`judged_${name}`, columns) : name);

export const complain = ([key, values]) => t(key, values);
