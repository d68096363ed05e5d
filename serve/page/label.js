// The view for labelling by hand, a sheet or the open rows of the file view: one item a screen, by keyboard or by large buttons.

import { commandBox, quoted } from "./command.js";
import { announce, byId, download, h, icon } from "./dom.js";
import { number, onLanguage, t } from "./language.js";
import { textBox } from "./math.js";
import { noted } from "./notes.js";
import { alike, forget, give, isLines, keepLabels, keepSheet, readFile, recallLabels, recallSheet, renderBad, writeSheet } from "./sheet.js";
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

let sheet = null; // as readFile gives it; `ofFile` where the file view has its rows
let items = []; // its rows, of those with the same answer the first
let at = 0; // the item that is shown; behind the last one the end
let toFile = () => {};
let done = []; // what can be undone: [place, label before]
let trouble = null; // makes a message
let kept = true;

/** `openAnswers` opens a file that is no sheet of labels, in the view for files. */
export function start(openAnswers) {
  toFile = openAnswers;
  byId("label-picker").addEventListener("change", (event) => open(event.target.files[0]));
  byId("label-continue").addEventListener("click", () => use(recallSheet()));
  byId("label-forget").addEventListener("click", forgetLast);
  byId("label-other").addEventListener("click", close);
  for (const verdict of VERDICTS) byId(`label-${verdict}`).addEventListener("click", () => label(verdict));
  byId("label-back").addEventListener("click", () => go(at - 1));
  byId("label-on").addEventListener("click", () => go(at + 1));
  byId("label-undo").addEventListener("click", undo);
  byId("label-download").addEventListener("click", save);
  byId("label-results").addEventListener("click", () => (location.hash = "file"));
  byId("label-keys").checked = recall(KEYS_ON) !== "off";
  byId("label-keys").addEventListener("change", (event) => keep(KEYS_ON, event.target.checked ? null : "off"));
  addEventListener("keydown", pressed);
  addEventListener("beforeunload", (event) => done.length && !kept && event.preventDefault());
  onLanguage(render);
  render();
}

/** Nothing to send in this view. */
export const submit = () => {};

/** Open a sheet, with the labels that were given to it before. */
export async function open(chosen) {
  byId("label-picker").value = "";
  if (!chosen) return;
  const [opened, why, sheets = []] = await readFile(chosen);
  if (sheets.length || (opened && !opened.fields.label)) return toFile(chosen);
  if (opened?.rows.length) return use(opened);
  trouble = why ?? (() => `${t("file.empty", { name: chosen.name })}\n${noted(`${opened.bad[0].where}: ${opened.bad[0].problem}`)}`);
  render();
}

/** Label the rows of a sheet, which get the labels. */
export function use(opened) {
  [sheet, done, trouble] = [recallLabels(opened), [], null];
  const seen = new Set();
  items = sheet.rows.filter(({ same }) => !seen.has(same) && seen.add(same));
  keepSheet(sheet); // one that is too large is chosen again after a reload
  kept = keepLabels(sheet);
  if (!byId("label").hidden) return go(first());
  addEventListener("hashchange", () => go(first()), { once: true });
  location.hash = "label";
}

/** The file view has another file. */
export const leave = () => sheet?.ofFile && close();

function close() {
  sheet = null;
  render();
  byId("label-picker").focus();
}

function forgetLast() {
  if (confirm(t("sheet.forget.sure"))) forget(recallSheet());
  render();
}

const size = () => items.length;
const labelled = () => sheet.rows.filter((row) => row.label).length;

/** The first item without a label; the end where there is none. */
const first = () => (items.some((row) => !row.label) ? items.findIndex((row) => !row.label) : size());

function label(verdict) {
  if (at === size()) return;
  done.push([at, items[at].label]);
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
  if (kept) recallLabels(sheet); // another tab may have labelled the same sheet
  give(sheet.rows, items[place], verdict);
  kept = keepLabels(sheet);
}

function go(place) {
  at = Math.max(0, Math.min(size(), place));
  render();
  byId(matchMedia("(max-width: 44rem)").matches ? "label-bar" : "label-work").scrollIntoView({ block: "start" });
  byId(at === size() ? "label-end-heading" : "label-heading").focus({ preventScroll: true });
}

function pressed(event) {
  const action = KEYS[event.key?.length === 1 ? event.key.toLowerCase() : event.key];
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog");
  if (!action || !sheet || byId("label").hidden || !byId("label-keys").checked || typing) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  event.preventDefault();
  action();
}

const fileName = () => sheet.name.replace(/(\.[^.]*)?$/, (ending) => `.labelled${isLines(ending) ? ".jsonl" : /tsv$/i.test(ending) ? ".tsv" : ".csv"}`);

function save() {
  download(fileName(), writeSheet(sheet));
}

function render() {
  byId("label-open").hidden = sheet !== null;
  byId("label-work").hidden = sheet === null;
  renderOpen();
  if (!sheet) return;
  const [ended, given] = [at === size(), labelled()];
  byId("label-name").textContent = sheet.name;
  byId("label-bar").max = sheet.rows.length;
  byId("label-bar").value = given;
  byId("label-count").textContent = t("label.count", { n: number(given), total: number(sheet.rows.length) });
  renderBad(byId("label-bad"), sheet.bad);
  byId("label-unkept").hidden = kept;
  byId("label-item").hidden = byId("label-buttons").hidden = ended;
  byId("label-end").hidden = !ended;
  byId("label-back").disabled = at === 0;
  byId("label-on").disabled = ended;
  byId("label-undo").disabled = !done.length;
  byId("label-results").hidden = !sheet.ofFile;
  byId("label-download").hidden = Boolean(sheet.ofFile);
  for (const name of ["label-download", "label-results"]) byId(name).classList.toggle("primary", ended);
  if (ended) renderEnd(given);
  else renderItem();
}

function renderOpen() {
  const last = sheet ? null : recallSheet();
  byId("label-last").hidden = !last;
  if (last) {
    const given = last.rows.filter((row) => row.label).length;
    byId("label-continue").textContent = t("sheet.continue", { name: last.name, n: number(given), total: number(last.rows.length) });
  }
  byId("label-trouble").hidden = !trouble;
  byId("label-trouble").textContent = trouble ? trouble() : "";
}

/** The item alone: neither the judge's verdict nor any other field, which would influence the label. */
function renderItem() {
  const { label: given, item } = items[at];
  const { question, context, reference, response } = item;
  const block = (key, text) => (text ? h("section", {}, h("h2", {}, t(key)), textBox(String(text), { class: `text ${key}`, tabindex: 0, role: "group", "aria-label": t(key) })) : null);
  byId("label-heading").textContent = t("label.item", { n: number(at + 1), total: number(size()) });
  byId("label-texts").replaceChildren(...[
    block("question", question), block("context", context), block("reference", [reference].flat().join(" / ")),
    h("div", {}, block("response", response) ?? h("p", { class: "quiet" }, t("label.no-response")), alike(sheet.rows, items[at])),
  ].filter(Boolean));
  for (const verdict of VERDICTS) byId(`label-${verdict}`).setAttribute("aria-pressed", String(given === verdict));
}

function renderEnd(given) {
  const [total, left] = [number(sheet.rows.length), sheet.rows.length - given];
  const count = (verdict) => number(sheet.rows.filter((row) => row.label === verdict).length);
  const counts = VERDICTS.map((verdict) => h("li", {}, h("span", { class: `state ${verdict}` }, icon(verdict), t(verdict)), " ", count(verdict)));
  const missing = h("p", { class: "note" }, t("label.left", { n: number(left) }), " ", h("button", { type: "button", class: "link", onclick: () => go(first()) }, t("label.first")));
  byId("label-end-heading").textContent = t(left ? "label.end.left" : "label.end", { n: number(given), total });
  byId("label-result").replaceChildren(...[h("ul", { class: "counts" }, counts), left ? missing : null].filter(Boolean));
  const command = `gradegpt eval.estimate judged.jsonl ${quoted(fileName())}`;
  const next = sheet.ofFile ? [h("p", {}, t("label.in-file"))] : [h("p", {}, t("label.next")), commandBox(t("label.next"), command), h("p", { class: "quiet" }, t("label.next.hint"))];
  byId("label-next").replaceChildren(...next);
}
