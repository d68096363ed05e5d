// The figures of a judged file: its score, agreement with its labels, and scores by pupil, class or question.

import { byId, h } from "./dom.js";
import { fixed, number, percent, t } from "./language.js";
import { agreement, grouped, markOf, score } from "./stats.js";
import * as table from "./table.js";

const MOST = 1000; // groups of a column that names some

let by = ""; // the column of the groups
let changed = () => {};
let save = () => {};

/** `onChange` draws the page again, `onSave` saves columns and their lines. */
export function start(onChange, onSave) {
  [changed, save] = [onChange, onSave];
}

export function render(file) {
  const { rows } = file;
  const found = rows.some((row) => row.judgement) && score(rows);
  const labelled = agreement(file.added.length ? [] : rows); // labels of an earlier judgement were given to it
  byId("summary").hidden = byId("groups").hidden = !found;
  if (!found) return;
  const notes = [t("score.note"), ...(labelled.total ? labelNotes(labelled) : [])];
  byId("summary").replaceChildren(
    h("h2", { class: "unseen" }, t("summary")),
    h("dl", { class: "figures" }, scored(found), ...(labelled.total ? agreed(labelled) : [])),
    labelled.total ? crosstable(labelled.matrix) : h("div"),
    h("p", { class: "quiet" }, notes.join(" ")),
  );
  renderGroups(file);
}

const figure = (key, value, below) => h("div", { class: "figure" }, h("dt", {}, t(key)), h("dd", {}, value), h("dd", { class: "below" }, below));

const FEW_OPEN = 0.05; // above this share, the rows without a verdict are part of the figure

function scored({ share, low, high, correct, n, open, byHand }) {
  const interval = t("score.interval", { low: percent(low), high: percent(high) });
  const hand = byHand ? `${t("semicolon")}${t("score.hand", { n: number(byHand) })}` : "";
  if (open > FEW_OPEN * (n + open)) {
    const [least, most] = [percent(correct / (n + open)), percent((correct + open) / (n + open))];
    const below = t("score.open", { open: number(open), least, most, n: number(n), share: percent(share), interval });
    return figure("score", t("score.interval", { low: least, high: most }), below + hand);
  }
  return figure("score", [percent(share), " ", h("span", { class: "interval" }, interval)], t("score.of", { n: number(correct), total: number(n) }) + hand);
}

function agreed({ agreed: n, total, kappa }) {
  return [
    figure("agreement", percent(n / total), t("agreement.of", { n: number(n), total: number(total) })),
    figure("kappa", kappa === null ? t("kappa.none") : fixed(kappa, 2), kappa === null ? t("kappa.why") : ""),
  ];
}

const labelNotes = ({ left }) => [t("agreement.note"), left ? t("agreement.left", { n: number(left) }) : ""].filter(Boolean);

function crosstable(matrix) {
  const names = [t("label.correct"), t("label.not")];
  const head = h("tr", {}, h("th", { scope: "col", class: "corner" }, t("matrix.corner")), names.map((name) => h("th", { scope: "col" }, name)));
  const line = (label) => h("tr", {}, h("th", { scope: "row" }, names[1 - label]), [1, 0].map((verdict) => h("td", { class: label === verdict ? "same" : "apart" }, number(matrix[label][verdict]))));
  return h("table", { class: "matrix" }, h("caption", { class: "unseen" }, t("matrix")), h("thead", {}, head), h("tbody", {}, line(1), line(0)));
}

/** What names several rows each: the pupil, the question, and columns such as the class; each with its groups. */
function groupings({ rows, named, pupil }) {
  const columns = [...new Set(rows.flatMap((row) => row.beside.map(([column]) => column)))].filter((column) => !pupil.includes(column));
  const value = (column) => (row) => String(row.beside.find(([name]) => name === column)?.[1] ?? "");
  const all = [
    ...(named === "row" ? [] : [[t(`column.${named}`), (row) => row.name]]),
    ...columns.map((column) => [column, value(column)]),
    [t("column.question"), (row) => row.item.question ?? ""],
  ];
  const found = all.map(([name, valueOf]) => [name, grouped(rows, valueOf)]);
  return new Map(found.filter(([, groups]) => groups.size > 1 && groups.size < rows.length && groups.size <= MOST));
}

let drawn = [null, ""]; // the file whose scores are shown, and what they say: an open menu stays open

function renderGroups(file) {
  const found = groupings(file);
  byId("groups").hidden ||= !found.size;
  if (!found.size) return;
  if (!found.has(by)) [by] = found.keys();
  const choose = ({ target: { value } }) => ((by = value), changed(), byId("group-by").focus());
  const select = h("select", { id: "group-by", onchange: choose }, [...found.keys()].map((name) => h("option", { selected: name === by }, name)));
  const lines = [...found.get(by)].map(([value, rows]) => [value, ...counted(rows)]);
  const [head, rows] = [[by, t("correct"), t("groups.of"), t("groups.open"), t("groups.share")], [...found.get(by).values()]];
  const cells = (line, at) => [h("th", { scope: "row" }, h("button", { type: "button", class: by === t("column.question") ? "link" : "link name", onclick: () => table.only(line[0], rows[at]) }, line[0] || "–")), ...line.slice(1).map((cell) => h("td", {}, cell))];
  const signature = JSON.stringify([[...found.keys()], head, lines]);
  if (drawn[0] === file && drawn[1] === signature) return;
  drawn = [file, signature];
  byId("groups").replaceChildren(
    h("p", {}, h("label", {}, t("groups"), " ", select), h("button", { type: "button", class: "small", onclick: () => save(head, lines) }, t("groups.save"))),
    h("div", { class: "lines", tabindex: 0, role: "group", "aria-label": t("groups") },
      h("table", {}, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, lines.map((line, at) => h("tr", {}, cells(line, at)))))),
  );
}

/** The correct ones, all, those without a verdict or a label, and the share of the first. */
function counted(rows) {
  const [n, correct] = [rows.length, rows.filter((row) => markOf(row) === "correct").length];
  const open = rows.filter((row) => markOf(row) === null).length;
  const [least, most] = [percent(correct / n, 0), percent((correct + open) / n, 0)];
  return [number(correct), number(n), open ? number(open) : "", open ? t("score.interval", { low: least, high: most }) : least];
}
