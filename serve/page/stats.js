// Statistics of the rows.

export const VERDICTS = ["correct", "incorrect", "invalid"];
export const STATES = [...VERDICTS, "undecided", "unparsed", "failed", "error", "waiting"];

/** The state of a row: a verdict, an outcome without one, or not judged. */
export const stateOf = ({ judgement, error }) =>
  judgement ? (judgement.verdict ?? judgement.outcome) : error === null ? "waiting" : "error";

/** Whether the judge gave no verdict, or the server no judgement. */
export const isOpen = (row) => ![...VERDICTS, "waiting"].includes(stateOf(row));

/** What a row counts as: the judge's verdict, or the label where the judge gave none; null without either. */
export const markOf = (row) => row.judgement?.verdict ?? (isOpen(row) ? row.label : null);

/** Whether the judge and the label differ on correct or not; rows without either do not. */
export const disagrees = ({ judgement, label }) =>
  Boolean(judgement?.verdict && label) && (judgement.verdict === "correct") !== (label === "correct");

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
 * The share of correct marks among all, with Wilson's interval; null where there is none.
 * `byHand` of them are labels, `open` is the number of rows that have neither verdict nor label.
 *
 * E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
 */
export function score(rows) {
  const marked = rows.filter(markOf);
  const [n, correct] = [marked.length, marked.filter((row) => markOf(row) === "correct").length];
  if (!n) return null;
  const share = correct / n;
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2))) / (1 + Z ** 2 / n);
  const [open, byHand] = [rows.filter((row) => isOpen(row) && !row.label).length, marked.filter(isOpen).length];
  return { correct, n, open, byHand, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
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

/**
 * The accuracy that labels of some rows give: the share of correct labels within each judgement, weighted by its rows.
 *
 * As `gradegpt eval.estimate` computes it (stratified; Jeffreys' limits, combined by MOVER). Null where no verdict has a
 * label, or every row has one: the labels are then the accuracy, and nothing is to be corrected.
 */
export function corrected(rows) {
  const strata = new Map();
  for (const row of rows) {
    const state = stateOf(row) === "invalid" ? "incorrect" : stateOf(row);
    const of = strata.get(state) ?? { items: 0, n: 0, k: 0 };
    strata.set(state, { items: of.items + 1, n: of.n + Boolean(row.label), k: of.k + (row.label === "correct") });
  }
  const labels = rows.filter((row) => row.label).length;
  if (!rows.some((row) => row.label && row.judgement?.verdict) || labels === rows.length || strata.has("waiting") || strata.has("error")) return null;
  let [share, squares, below, above] = [0, 0, 0, 0];
  for (const { items, n, k } of strata.values()) {
    const [weight, rate, [low, high]] = [items / rows.length, n ? k / n : 0.5, jeffreys(k, n)];
    share += weight * rate;
    squares += weight * rate ** 2;
    below += (weight * (rate - low)) ** 2;
    above += (weight * (high - rate)) ** 2;
  }
  const drawn = (Z ** 2 * (squares - share ** 2)) / rows.length;
  const [low, high] = [Math.max(0, share - Math.sqrt(below + drawn)), Math.min(1, share + Math.sqrt(above + drawn))];
  return { share, low, high, n: labels, total: rows.length };
}

/** The limits with Jeffreys' prior; 0 or 1 where nothing or everything succeeded. */
function jeffreys(k, n) {
  const limit = (tail) => quantile(tail, k + 0.5, n - k + 0.5);
  return [k === 0 ? 0 : limit(0.025), k === n ? 1 : limit(0.975)];
}

/** The quantile of a beta distribution; its density is summed on the arcsine scale, where it is smooth. */
function quantile(p, a, b) {
  const steps = 4000;
  const at = (step) => (Math.PI / 2) * ((step + 0.5) / steps);
  const logs = Array.from({ length: steps }, (_, step) => (2 * a - 1) * Math.log(Math.sin(at(step))) + (2 * b - 1) * Math.log(Math.cos(at(step))));
  const most = Math.max(...logs);
  const density = logs.map((log) => Math.exp(log - most));
  let left = p * density.reduce((sum, one) => sum + one, 0);
  const step = density.findIndex((one) => (left -= one) <= 0);
  return Math.sin(at(step) + ((left / density[step]) + 0.5) * (Math.PI / 2 / steps)) ** 2;
}
