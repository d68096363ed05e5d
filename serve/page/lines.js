// A judged file: its rows with labels and judgements, as `gradegpt report` and `eval.estimate` read it.

import { writeTable } from "./csv.js";
import { t } from "./language.js";
import { noted } from "./notes.js";
import { saidWhy } from "./reason.js";
import { labelColumn, withLabel } from "./sheet.js";
import { markOf, stateOf } from "./stats.js";

const ADDED = ["verdict", "confidence", "outcome", "withheld", "method", "reason", "answer"]; // columns of a judged table

/**
 * Rows of a file as a table: its columns, the label, for people the result and why, and for commands those of a judgement.
 *
 * The rows that could not be judged are among them, with the reason. A row of JSON Lines has the whole judgement.
 */
export function writeJudged(file, rows, form) {
  const label = labelColumn(file);
  if (form === "jsonl") return rows.filter((row) => row.judgement).map((row) => `${JSON.stringify({ ...withLabel(row, label), judgement: row.judgement })}\n`).join("");
  const added = ["result", "why", ...ADDED];
  const names = Object.fromEntries(added.map((field) => [field, free(ADDED.includes(field) ? field : t(`column.of.${field}`), file.columns)]));
  const cells = (row) => Object.fromEntries(added.map((field) => [names[field], cell(row, field)]));
  const written = rows.map((row) => ({ ...withLabel(row, label, t), ...cells(row) }));
  return writeTable([...new Set([...file.columns, ...(label ? [label] : []), ...Object.values(names)])], written);
}

function cell(row, field) {
  const { judgement, problem, error } = row;
  if (field === "result") return t(problem ? "unusable" : (markOf(row) ?? stateOf(row)));
  if (field === "why") return problem ? why(row) : [row.label && row.label !== row.judgement?.verdict ? t("by.hand") : "", error ? noted(error) : judgement ? saidWhy(judgement) : ""].join("").trim();
  return field === "confidence" && judgement?.confidence ? Math.floor(1000 * judgement.confidence) / 1000 : judgement?.[field];
}

/** Why a row could not be judged, with its place where it has no cells. */
const why = ({ where, problem, source }) => (Object.keys(source).length ? noted(problem) : `${noted(where)}${t("colon")}${noted(problem)}`);

const free = (name, columns) => (columns.includes(name) ? free(`judged_${name}`, columns) : name);
