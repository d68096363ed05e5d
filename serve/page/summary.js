// The figures of a judged file: its score, and agreement with its labels.

import { byId, h } from "./dom.js";
import { fixed, number, percent, t } from "./language.js";
import { agreement, corrected, score } from "./stats.js";

export function render(rows) {
  const found = score(rows);
  const [labelled, accuracy] = [agreement(rows), corrected(rows)];
  byId("summary").hidden = !found;
  if (!found) return;
  const notes = [t("score.note"), ...(labelled.total ? labelNotes(labelled) : [])];
  byId("summary").replaceChildren(
    h("h2", { class: "unseen" }, t("summary")),
    h("dl", { class: "figures" }, scored(found), accuracy ? byLabels(accuracy) : null, ...(labelled.total ? agreed(labelled) : [])),
    labelled.total ? crosstable(labelled.matrix) : h("div"),
    h("p", { class: "quiet" }, notes.join(" ")),
  );
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

function byLabels({ share, low, high, n, total }) {
  const interval = h("span", { class: "interval" }, t("score.interval", { low: percent(low), high: percent(high) }));
  return figure("accuracy", [percent(share), " ", interval], t("accuracy.of", { n: number(n), total: number(total) }));
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
