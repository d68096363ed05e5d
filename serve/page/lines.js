// Judgements as files, as the command line writes them.

import { writeTable } from "./csv.js";
import { t } from "./language.js";

const ADDED = ["verdict", "confidence", "outcome", "withheld", "method", "reason", "in_words", "answer"]; // columns of a judged table
export const ANSWER_TYPES = [
  "single_choice", "multiple_choice", "true_false", "number", "set", "interval", "expression",
  "equation", "tuple", "multi_part", "multi_answer", "code", "text",
];

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

/** The judgements of `rows`, one per line, as the command line writes them, with the label. */
export function writeLines(rows) {
  const judged = rows.filter((row) => row.judgement);
  const value = (row) => (row.given === null ? row.judgement : { ...row.judgement, label: row.given });
  return judged.map((row) => `${JSON.stringify(value(row))}\n`).join("");
}

/** The judged rows of a file as a table, as the command line writes it: its columns and those of a judgement, whose reason `inWords` says. */
export function writeJudged(rows, columns, inWords) {
  const names = Object.fromEntries(ADDED.map((field) => [field, free(field, columns)]));
  const judged = rows.filter((row) => row.judgement);
  const cell = (judgement, field) => {
    if (field === "in_words") return inWords(judgement);
    return field === "confidence" && judgement.confidence !== null ? Math.floor(1000 * judgement.confidence) / 1000 : judgement[field];
  };
  const added = (judgement) => Object.fromEntries(ADDED.map((field) => [names[field], cell(judgement, field)]));
  const lines = judged.map((row) => ({ ...row.source, ...added(row.judgement) }));
  return writeTable([...columns, ...Object.values(names)], lines, ",");
}

const free = (name, columns) => (columns.includes(name) ? free(`judged_${name}`, columns) : name);

export const complain = ([key, values]) => t(key, values);
