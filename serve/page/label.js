// The view for labelling a sheet by hand: one item a screen, by keyboard or by large buttons.

import { commandBox, quoted } from "./command.js";
import { TableError } from "./csv.js";
import { announce, byId, download, h, icon } from "./dom.js";
import { number, onLanguage, t } from "./language.js";
import { complain } from "./lines.js";
import { textBox } from "./math.js";
import { forget, keepLabels, keepSheet, readSheet, recallLabels, recallSheet, writeSheet } from "./sheet.js";
import { VERDICTS } from "./stats.js";
import { keep, recall } from "./store.js";

const KEYS_ON = "gradegpt.keys";
const KEYS = {
  1: () => label("correct"), c: () => label("correct"),
  2: () => label("incorrect"), x: () => label("incorrect"),
  3: () => label("invalid"), i: () => label("invalid"),
  s: () => go(at + 1), ArrowRight: () => go(at + 1),
  ArrowLeft: () => go(at - 1), u: undo,
};

let sheet = null;
let labels = [];
let at = 0; // the item that is shown; behind the last one the end
let done = []; // what can be undone: [place, label before]
let trouble = null;
let kept = true;

export function start() {
  byId("label-picker").addEventListener("change", (event) => open(event.target.files[0]));
  byId("label-continue").addEventListener("click", () => use(recallSheet()));
  byId("label-forget").addEventListener("click", forgetLast);
  byId("label-other").addEventListener("click", close);
  for (const verdict of VERDICTS) byId(`label-${verdict}`).addEventListener("click", () => label(verdict));
  byId("label-back").addEventListener("click", () => go(at - 1));
  byId("label-on").addEventListener("click", () => go(at + 1));
  byId("label-undo").addEventListener("click", undo);
  byId("label-download").addEventListener("click", save);
  byId("label-keys").checked = recall(KEYS_ON) !== "off";
  byId("label-keys").addEventListener("change", (event) => keep(KEYS_ON, event.target.checked ? null : "off"));
  addEventListener("keydown", pressed);
  onLanguage(render);
  render();
}

/** Nothing to send in this view. */
export const submit = () => {};

/** Open a sheet, with the labels that were given to it before. */
export async function open(chosen) {
  byId("label-picker").value = "";
  if (!chosen) return;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await chosen.arrayBuffer());
    use(readSheet(chosen.name, text));
  } catch (error) {
    if (!(error instanceof TableError || error instanceof DOMException || error instanceof TypeError)) throw error;
    trouble = [chosen.name, error instanceof TableError ? error.complaint : [error instanceof TypeError ? "bad.utf8" : "sheet.unreadable"]];
    render();
  }
}

function use(opened) {
  [sheet, labels, done, trouble] = [opened, recallLabels(opened) ?? opened.labels, [], null];
  keepSheet(sheet); // one that is too large is chosen again after a reload
  kept = keepLabels(sheet, labels);
  go(first());
}

function close() {
  sheet = null;
  render();
  byId("label-picker").focus();
}

function forgetLast() {
  if (confirm(t("sheet.forget.sure"))) forget(recallSheet());
  render();
}

/** The first item without a label; the end where there is none. */
const first = () => (labels.includes(null) ? labels.indexOf(null) : labels.length);

function label(verdict) {
  if (at === labels.length) return;
  done.push([at, labels[at]]);
  set(at, verdict);
  announce(t("label.given", { label: t(verdict) }));
  go(at + 1);
}

function undo() {
  const last = done.pop();
  if (!last) return;
  set(...last);
  announce(t("label.undone"));
  go(last[0]);
}

function set(place, verdict) {
  const others = kept ? recallLabels(sheet) : null; // another tab may have labelled the same sheet
  labels = (others ?? labels).with(place, verdict);
  kept = keepLabels(sheet, labels);
}

function go(place) {
  at = Math.max(0, Math.min(labels.length, place));
  render();
  byId(matchMedia("(max-width: 44rem)").matches ? "label-bar" : "label-work").scrollIntoView({ block: "start" });
  byId(at === labels.length ? "label-end-heading" : "label-heading").focus({ preventScroll: true });
}

function pressed(event) {
  const action = KEYS[event.key?.length === 1 ? event.key.toLowerCase() : event.key];
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog");
  if (!action || !sheet || byId("label").hidden || !byId("label-keys").checked || typing) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  event.preventDefault();
  action();
}

const fileName = () => sheet.name.replace(/(\.[^.]*)?$/, (ending) => `.labelled${ending || ".jsonl"}`);

function save() {
  download(fileName(), writeSheet(sheet, labels));
}

function render() {
  byId("label-open").hidden = sheet !== null;
  byId("label-work").hidden = sheet === null;
  renderOpen();
  if (!sheet) return;
  const ended = at === labels.length;
  const given = labels.filter(Boolean).length;
  byId("label-name").textContent = sheet.name;
  byId("label-bar").max = labels.length;
  byId("label-bar").value = given;
  byId("label-count").textContent = t("label.count", { n: number(given), total: number(labels.length) });
  byId("label-unkept").hidden = kept;
  byId("label-item").hidden = byId("label-buttons").hidden = ended;
  byId("label-end").hidden = !ended;
  byId("label-back").disabled = at === 0;
  byId("label-on").disabled = ended;
  byId("label-undo").disabled = !done.length;
  byId("label-download").classList.toggle("primary", ended);
  if (ended) renderEnd(given);
  else renderItem();
}

function renderOpen() {
  const last = sheet ? null : recallSheet();
  byId("label-last").hidden = !last;
  if (last) {
    const given = (recallLabels(last) ?? last.labels).filter(Boolean).length;
    byId("label-continue").textContent = t("sheet.continue", { name: last.name, n: number(given), total: number(last.rows.length) });
  }
  byId("label-trouble").hidden = !trouble;
  byId("label-trouble").textContent = trouble ? `${trouble[0]}: ${said(trouble[1])}` : "";
}

const said = ([key, values]) => (key === "bad.at" ? t(key, { n: values.n, what: complain(values.what) }) : t(key, values));

/** The item alone: neither the judge's verdict nor any other field, which would influence the label. */
function renderItem() {
  const { question, context, reference, response } = sheet.rows[at];
  const block = (key, text) => (text ? h("section", {}, h("h2", {}, t(key)), textBox(String(text), { class: `text ${key}`, tabindex: 0, role: "group", "aria-label": t(key) })) : null);
  byId("label-heading").textContent = t("label.item", { n: number(at + 1), total: number(labels.length) });
  byId("label-texts").replaceChildren(...[
    block("question", question), block("context", context), block("reference", [reference].flat().join(" / ")),
    block("response", response) ?? h("p", { class: "quiet" }, t("label.no-response")),
  ].filter(Boolean));
  for (const verdict of VERDICTS) byId(`label-${verdict}`).setAttribute("aria-pressed", String(labels[at] === verdict));
}

function renderEnd(given) {
  const left = labels.length - given;
  const counts = VERDICTS.map((verdict) => h("li", {}, h("span", { class: `state ${verdict}` }, icon(verdict), t(verdict)), " ", number(labels.filter((one) => one === verdict).length)));
  const missing = h("p", { class: "note" }, t("label.left", { n: number(left) }), " ", h("button", { type: "button", class: "link", onclick: () => go(first()) }, t("label.first")));
  byId("label-end-heading").textContent = t(left ? "label.end.left" : "label.end", { n: number(given), total: number(labels.length) });
  byId("label-result").replaceChildren(...[h("ul", { class: "counts" }, counts), left ? missing : null].filter(Boolean));
  const command = `gradegpt eval.estimate judged.jsonl ${quoted(fileName())}`;
  byId("label-next").replaceChildren(h("p", {}, t("label.next")), commandBox(t("label.next"), command), h("p", { class: "quiet" }, t("label.next.hint")));
}
