// Statistics of the rows.

export const VERDICTS = ["correct", "incorrect", "invalid"];
export const STATES = [...VERDICTS, "undecided", "unparsed", "failed", "error", "waiting"];

/** The state of a row: a verdict, an outcome without one, or not judged. */
export const stateOf = ({ judgement, error }) =>
  judgement ? (judgement.verdict ?? judgement.outcome) : error === null ? "waiting" : "error";

/** Whether the judge and the label differ on correct or not; rows without either do not. */
export const disagrees = ({ judgement, label }) =>
  Boolean(judgement?.verdict) && label !== null && (judgement.verdict === "correct") !== label;

/** How many rows are in each state; all of them are in one. */
export function count(rows) {
  const counts = { disagreements: 0, judged: 0, ...Object.fromEntries(STATES.map((state) => [state, 0])) };
  for (const row of rows) {
    counts[stateOf(row)] += 1;
    counts.judged += Boolean(row.judgement?.verdict);
    counts.disagreements += disagrees(row);
  }
  return counts;
}

const Z = 1.959963984540054; // 95 %

/**
 * The share of correct verdicts among all, with Wilson's interval; null where there is no verdict.
 * `open` is the number of rows that the judge left without one.
 *
 * E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
 */
export function score(rows) {
  const { correct, judged: n, undecided, unparsed, failed } = count(rows);
  if (!n) return null;
  const share = correct / n;
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2))) / (1 + Z ** 2 / n);
  return { correct, n, open: undecided + unparsed + failed, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/**
 * Agreement with the labels over rows that have both a label and a verdict, in two classes.
 *
 * `matrix[label][verdict]` counts them, 1 for correct. `kappa` is null where chance alone explains
 * everything, because one class is all there is.
 */
export function agreement(rows) {
  const matrix = [[0, 0], [0, 0]];
  let left = 0;
  for (const { judgement, label } of rows) {
    if (label === null) continue;
    if (judgement?.verdict) matrix[Number(label)][Number(judgement.verdict === "correct")] += 1;
    else left += 1;
  }
  const [[a, b], [c, d]] = matrix;
  const total = a + b + c + d;
  const agreed = a + d;
  const chance = ((a + b) * (a + c) + (c + d) * (b + d)) / (total * total);
  const kappa = total && chance < 1 ? (agreed / total - chance) / (1 - chance) : null;
  return { matrix, total, agreed, left, kappa };
}
