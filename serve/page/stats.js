// Statistics of the rows.

export const VERDICTS = ["correct", "incorrect", "invalid"];
export const STATES = [...VERDICTS, "undecided", "unparsed", "failed", "error", "waiting"];

/** The state of a row: a verdict, an outcome without one, or not judged. */
export const stateOf = ({ judgement, error }) =>
  judgement ? (judgement.verdict ?? judgement.outcome) : error === null ? "waiting" : "error";

/** Whether the judge gave no verdict, or the server no judgement. */
export const isOpen = (row) => ![...VERDICTS, "waiting"].includes(stateOf(row));

/** What a row counts as: the label, which a person gave, or else the judge's verdict; null without either. */
export const markOf = (row) => row.label ?? row.judgement?.verdict ?? null;

/** What a row is counted as among the states: a label that a person gave it here, or else its state. */
export const resultOf = (row) => (row.label && row.label !== row.given ? row.label : stateOf(row));

/** Whether the judge and the label differ on correct or not; rows without either do not. */
export const disagrees = ({ judgement, label }) =>
  Boolean(judgement?.verdict && label) && (judgement.verdict === "correct") !== (label === "correct");

/** The rows by a value of each, in the order of their first. */
export function grouped(rows, valueOf) {
  const groups = new Map();
  for (const row of rows) {
    const value = valueOf(row);
    groups.set(value, groups.get(value) ?? []);
    groups.get(value).push(row);
  }
  return groups;
}

/** How many rows are in each state; all of them are in one. */
export function count(rows) {
  const counts = { disagreements: 0, judged: 0, ...Object.fromEntries(STATES.map((state) => [state, 0])) };
  for (const row of rows) {
    counts[resultOf(row)] += 1;
    counts.judged += VERDICTS.includes(resultOf(row));
    counts.disagreements += disagrees(row);
  }
  return counts;
}

const Z = 1.959963984540054; // 95 %
const T = [12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004]; // Student's quantiles with 1 to 8 degrees of freedom

/** Student's quantile; of many degrees of freedom by Abramowitz and Stegun (1964), 26.7.5. */
const student = (n) =>
  T[n - 1] ?? Z + (Z ** 3 + Z) / (4 * n) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * n ** 2) + (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / (384 * n ** 3);

/** How many independent rows would vary as these of several questions do, as `independent` in gradegpt/judges/statistics.py. */
function independent(rows, share) {
  const [n, questions] = [rows.length, [...grouped(rows, ({ asked }) => asked).values()]];
  const k = questions.length;
  if (k === 1 || share * (1 - share) === 0) return k;
  const apart = questions.map((own) => own.filter((row) => markOf(row) === "correct").length - share * own.length);
  const between = (apart.reduce((sum, one) => sum + one ** 2, 0) / n ** 2) * (k / (k - 1));
  return (n / Math.max(1, (between * (n - 1)) / (share * (1 - share)))) * (student(n - 1) / student(k - 1)) ** 2;
}

/**
 * The share of correct marks among all, with Wilson's interval over questions, which is that of the report; null where there is none.
 * `byHand` of them are labels, `open` is the number of rows that were judged and have neither verdict nor label.
 */
export function score(rows) {
  const marked = rows.filter(markOf);
  const [n, correct] = [marked.length, marked.filter((row) => markOf(row) === "correct").length];
  if (!n) return null;
  const share = correct / n;
  const size = independent(marked, share);
  const middle = (share + Z ** 2 / (2 * size)) / (1 + Z ** 2 / size);
  const half = (Z * Math.sqrt((share * (1 - share)) / size + Z ** 2 / (4 * size ** 2))) / (1 + Z ** 2 / size);
  const [open, byHand] = [rows.filter((row) => isOpen(row) && !row.label).length, marked.filter((row) => row.label).length];
  return { correct, n, open, byHand, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/**
 * Agreement with the labels of the file over rows that have both a label and a verdict, in two classes.
 *
 * Corrections are no labels of the file: whoever gives them has seen the verdict.
 * `matrix[label][verdict]` counts them, 1 for correct. `kappa` is null where chance alone explains
 * everything, because one class is all there is.
 */
export function agreement(rows) {
  const matrix = [[0, 0], [0, 0]];
  let left = 0;
  for (const { judgement, given: label } of rows) {
    if (!label) continue;
    if (judgement?.verdict) matrix[Number(label === "correct")][Number(judgement.verdict === "correct")] += 1;
    else left += 1;
  }
  const [[a, b], [c, d]] = matrix;
  const total = a + b + c + d;
  const agreed = a + d;
  const chance = ((a + b) * (a + c) + (c + d) * (b + d)) / (total * total);
  const kappa = total && chance < 1 ? (agreed / total - chance) / (1 - chance) : null;
  return { matrix, total, agreed, left, kappa };
}
