// JSON Lines: rows to judge in, judgements out. A line is read as the command line reads it.

import { t } from "./language.js";

const TEXTS = ["id", "question", "response", "context", "tolerance"];
const KNOWN = new Set([...TEXTS, "reference", "answer_type", "needs", "meta"]);
const LABELS = new Set(["label", "verdict", "labelled_by", "lang", "source"]);
const NEEDS = ["all", "any"];
const VERDICTS = ["correct", "incorrect", "invalid"];
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
 */
export async function readLines(bytes) {
  const found = { rows: [], bad: [], ignored: new Map() };
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
  return found;
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
  const read = readLine(text);
  if (read.complaint) {
    found.bad.push({ line, text: text.trim().slice(0, 200), complaint: read.complaint });
    return;
  }
  for (const name of read.ignored) found.ignored.set(name, (found.ignored.get(name) ?? 0) + 1);
  const { item, label, given } = read;
  if (!item.id) item.id = String(line);
  found.rows.push({ index: found.rows.length, line, item, label, given, judgement: null, error: null });
}

/** One line as `{item, label, given, ignored}`, or its error. */
export function readLine(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { complaint: ["bad.json", { message: error.message }] };
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return { complaint: ["bad.object"] };
  const complaint = wrongWith(value) ?? wrongLabel(value);
  if (complaint) return { complaint };
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  const item = Object.fromEntries(names.filter((name) => KNOWN.has(name)).map((name) => [name, value[name]]));
  const given = value.label ?? value.verdict ?? null;
  const ignored = names.filter((name) => !KNOWN.has(name) && !LABELS.has(name));
  return { item, given, label: given === null ? null : truth(given), ignored };
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
  const fields = ["label", "verdict"].filter((field) => (value[field] ?? null) !== null);
  const odd = fields.find((field) => truth(value[field]) === null);
  if (odd) return ["bad.label", { field: odd, value: JSON.stringify(value[odd]) }];
  const apart = fields.length === 2 && truth(value.label) !== truth(value.verdict);
  return apart ? ["bad.labels"] : null;
}

/** Whether a label means "correct"; null for an unknown label. */
function truth(label) {
  if (typeof label === "boolean") return label;
  if (VERDICTS.includes(label)) return label === "correct";
  return { true: true, false: false }[label] ?? null;
}

/** The judgements of `rows`, one per line, as the command line writes them, with the label. */
export function writeLines(rows) {
  const judged = rows.filter((row) => row.judgement);
  const value = (row) => (row.given === null ? row.judgement : { ...row.judgement, label: row.given });
  return judged.map((row) => `${JSON.stringify(value(row))}\n`).join("");
}

export const complain = ([key, values]) => t(key, values);
