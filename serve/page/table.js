// The rows of a file: filters, search, pages of fifty, and a dialog with the whole judgement.

import { byId, h, icon } from "./dom.js";
import { reveal, sureness, unjudged, view } from "./judgement.js";
import { language, number, onLanguage, t } from "./language.js";
import { textBox } from "./math.js";
import { alike, give, nameOf } from "./sheet.js";
import { STATES, VERDICTS, count, disagrees, isOpen, resultOf, stateOf } from "./stats.js";

const PAGE = 50;
const CUT = 240;
const [WHO, BESIDE] = [24, 3]; // the longest value, and the most, that stand below an id: names and numbers
const PAUSE = 150;
const FILTERS = [["all", "disagreements"], ["judged", ...VERDICTS], STATES.slice(VERDICTS.length)];
/** States of a row, not outcomes of a judgement; without rows in them they are not offered. */
const UNJUDGED = ["error", "waiting"];
const COLUMNS = ["id", "question", "reference", "answer", "label", "result", "confidence"];

const labelled = () => rows.some((row) => row.label);
const columns = () => COLUMNS.filter((name) => name !== "label" || labelled());

let rows = [];
let named = "id"; // or pupil, row: what a row is known by
let pupil = []; // the columns of the pupil's name
let found = [];
let filter = "all";
let search = "";
let page = 0;
let group = null; // the rows of a pupil, a class or a question alone: [name, rows]
let sort = { column: "", down: false }; // the order of the file without a column
let opened = null; // the row in the dialog
let drawn = ""; // what the table shows, so that a quiet refresh leaves focus and selection alone
let changed = () => {};
let corrected = () => {};

/** `onChange` follows another choice of rows, `onCorrection` a label. */
export function start(onChange, onCorrection) {
  [changed, corrected] = [onChange, onCorrection];
  let timer;
  byId("search").addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(() => choose({ search: event.target.value }), PAUSE);
  });
  byId("sort").addEventListener("change", ({ target: { value } }) => sortBy(value.replace("-", ""), value.startsWith("-")));
  byId("page-back").addEventListener("click", () => turn(-1));
  byId("page-on").addEventListener("click", () => turn(1));
  byId("only").addEventListener("click", () => choose({ group: null }));
  byId("detail-back").addEventListener("click", () => step(-1));
  byId("detail-on").addEventListener("click", () => step(1));
  byId("detail-close").addEventListener("click", () => byId("detail").close());
  byId("detail").addEventListener("click", (event) => event.target === byId("detail") && byId("detail").close());
  byId("detail").addEventListener("keydown", arrows);
  byId("detail").addEventListener("close", closed);
  onLanguage(() => opened && renderDetail());
}

export function open(file) {
  [rows, found, filter, search, group, page, drawn] = [file?.rows ?? [], [], "all", "", null, 0, ""];
  ({ named, pupil } = file ?? { named, pupil });
  sort = { column: "", down: false };
  byId("search").value = "";
}

/** The rows that match filter and search. */
export const shown = () => found;

function choose(change) {
  filter = change.filter ?? filter;
  search = change.search ?? search;
  group = change.group === undefined ? group : change.group;
  page = 0;
  render();
  changed();
}

/** Show some rows alone, which have a name together. */
export function only(name, members) {
  choose({ group: [name, new Set(members)], filter: "all" });
  byId("only").scrollIntoView({ block: "center" });
  byId("only").focus();
}

function turn(by) {
  page += by;
  render();
  byId("table").scrollIntoView({ block: "start" });
}

function passes(row) {
  if (group && !group[1].has(row)) return false;
  if (filter === "disagreements") return disagrees(row);
  if (filter === "judged") return VERDICTS.includes(resultOf(row));
  return filter === "all" || resultOf(row) === filter;
}

function matches(row, sought) {
  const { item, judgement, error } = row;
  const others = row.beside.map(([, value]) => String(value));
  const texts = [row.name, item.question, ...[item.reference].flat(), item.response, judgement?.reason, judgement?.key_sentence, judgement?.answer, error, ...others];
  return texts.some((text) => text?.toLowerCase().includes(sought));
}

/** By a column; a second time the other way round, a third time as in the file. */
function sortBy(column, down) {
  sort = { column, down };
  page = 0;
  render();
}

const VALUES = {
  id: (row) => row.name || String(row.index + 1),
  question: ({ item }) => item.question || null,
  reference: ({ item }) => [item.reference].flat().join(" | "),
  answer: (row) => answerOf(row) || null,
  label: ({ label }) => VERDICTS.indexOf(label) + 1 || null,
  result: (row) => STATES.indexOf(stateOf(row)),
  confidence: ({ judgement }) => confidenceOf(judgement),
};

/** The answer that was found; before judging, the response. */
const answerOf = ({ item, judgement }) => (judgement ? judgement.answer : item.response) ?? "";

/** Only a verdict has a confidence. */
const confidenceOf = (judgement) => (judgement?.verdict ? judgement.confidence : null);

/** The rows in the chosen order; those without a value are last either way. */
function sorted(list) {
  const value = VALUES[sort.column];
  if (!value) return list;
  const { compare } = new Intl.Collator(language, { numeric: true });
  const keyed = list.map((row) => [value(row) ?? null, row]);
  const by = ([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : (sort.down ? -1 : 1) * (typeof a === "number" ? a - b : compare(a, b)));
  return keyed.sort(by).map(([, row]) => row);
}

export function render() {
  const sought = search.trim().toLowerCase();
  found = sorted(rows.filter((row) => passes(row) && (!sought || matches(row, sought))));
  page = Math.max(0, Math.min(page, Math.ceil(found.length / PAGE) - 1));
  renderFilters();
  const part = found.slice(page * PAGE, (page + 1) * PAGE);
  const signature = [language, sort.column, sort.down, ...part.map((row) => `${row.index}${stateOf(row)}${row.label}${row.judgement?.confidence}`)].join();
  if (signature !== drawn) {
    drawn = signature;
    renderSort();
    byId("table-head").replaceChildren(h("tr", {}, columns().map(heading)));
    byId("table-body").replaceChildren(...part.map(line));
  }
  byId("only").hidden = !group;
  byId("only").textContent = group ? `${group[0]} ×` : "";
  byId("nothing").hidden = found.length > 0;
  byId("pages").hidden = found.length <= PAGE;
  byId("pages-range").textContent = t("pages.range", { from: number(page * PAGE + 1), to: number(page * PAGE + part.length), total: number(found.length) });
  byId("page-back").disabled = page === 0;
  byId("page-on").disabled = (page + 1) * PAGE >= found.length;
}

const titleOf = (name) => t(name === "answer" && !rows.some((row) => row.judgement) ? "response" : `column.${name === "id" ? named : name}`);

/** The heading of a column, with a button that sorts by it. */
function heading(name) {
  const here = sort.column === name;
  const next = here && sort.down ? ["", false] : [name, here];
  const press = () => {
    sortBy(...next);
    byId("table-head").querySelector(`.${name} button`).focus();
  };
  const button = h("button", { type: "button", onclick: press }, titleOf(name), h("span", { "aria-hidden": "true" }, here ? (sort.down ? " ↓" : " ↑") : ""));
  return h("th", { scope: "col", class: name, "aria-sort": here ? (sort.down ? "descending" : "ascending") : null }, button);
}

/** The same choice on a phone, where the table has no headings. */
function renderSort() {
  const option = (value, text) => h("option", { value, selected: value === (sort.down ? "-" : "") + sort.column }, text);
  const both = (name) => [option(name, `${titleOf(name)} ↑`), option(`-${name}`, `${titleOf(name)} ↓`)];
  byId("sort").replaceChildren(option("", t("sort.file")), ...columns().flatMap(both));
}

function renderFilters() {
  const counts = { all: rows.length, ...count(rows) };
  const box = byId("filters");
  if (!box.childElementCount) box.append(...FILTERS.map((group) => h("div", { class: "group" }, group.map(button))));
  for (const chip of box.querySelectorAll("button")) {
    const name = chip.dataset.filter;
    chip.setAttribute("aria-pressed", String(name === filter));
    chip.classList.toggle("empty", counts[name] === 0);
    const none = UNJUDGED.includes(name) ? counts[name] === 0 : name === "disagreements" && !rows.some((row) => row.label && row.judgement?.verdict);
    chip.hidden = none && name !== filter;
    chip.replaceChildren(t(["all", "disagreements"].includes(name) ? `filter.${name}` : name), " ", h("span", { class: "n" }, number(counts[name])));
  }
}

const button = (name) => h("button", { type: "button", class: `chip ${name}`, "data-filter": name, onclick: () => choose({ filter: name }) });

const cut = (text) => (text.length > CUT ? `${text.slice(0, CUT)}…` : text);

/** The beginnings of texts in a cell of two lines. */
const short = (...texts) => h("div", {}, texts.flatMap((text, at) => [at ? " | " : "", text && textBox(cut(text), {}, { as: "span" })]));

function line(row) {
  const { item, judgement } = row;
  const state = stateOf(row);
  const cell = (name, ...content) => h("td", { role: "cell", class: name, "data-name": t(`column.${name}`) }, ...content);
  const open = h("button", { type: "button", class: "open", "aria-haspopup": "dialog" }, nameOf(row));
  const others = row.beside.filter(([column]) => !pupil.includes(column)).map(([, value]) => String(value));
  const who = others.filter((value) => value.length <= WHO).slice(0, BESIDE);
  const said = (verdict) => h("span", { class: `state ${verdict}` }, icon(verdict), t(verdict));
  const label = !row.label ? "" : isOpen(row) ? said(row.label) : h("span", { class: disagrees(row) ? "apart" : "" }, t(row.label).toLowerCase());
  return h("tr", { role: "row", class: state, "data-row": row.index, onclick: (event) => getSelection().isCollapsed && openDetail(row, event) },
    h("th", { role: "rowheader", scope: "row", class: "id" }, open, who.length ? h("span", { class: "who" }, who.map((value) => h("span", {}, value))) : null),
    cell("question", short(item.question ?? "")),
    cell("reference", short(...[item.reference].flat())),
    cell("answer", short(answerOf(row))),
    labelled() ? cell("label", label) : null,
    cell("result", said(state)),
    cell("confidence", typeof confidenceOf(judgement) === "number" ? sureness(judgement.confidence) : ""));
}

function openDetail(row) {
  opened = row;
  renderDetail();
  byId("detail").showModal();
  byId("detail-close").focus();
  reveal(byId("detail"));
}

function renderDetail() {
  const at = found.indexOf(opened);
  const { item, judgement, label, beside, error } = opened;
  byId("detail-title").textContent = t(`detail.${named}`, { name: nameOf(opened) });
  byId("detail-position").textContent = at < 0 ? "" : t("detail.position", { n: number(at + 1), total: number(found.length) });
  byId("detail-back").disabled = at <= 0;
  byId("detail-on").disabled = at < 0 || at + 1 >= found.length;
  const content = judgement ? view(item, judgement, { label, beside, texts: true }) : unjudged(item, stateOf(opened), error);
  content.splice(1, 0, correction());
  byId("detail-body").replaceChildren(...content);
  byId("detail-body").scrollTop = 0;
  reveal(byId("detail"));
}

/** The buttons by which a person says otherwise than the judge, or the same. */
function correction() {
  const button = (verdict, at) => h("button", { type: "button", class: verdict, "aria-pressed": String(opened.label === verdict), onclick: () => correct(verdict) }, t(verdict), " ", h("kbd", {}, at + 1));
  return h("div", { class: "correction", role: "group", "aria-label": t("label.controls") }, h("span", {}, t("label.controls")), VERDICTS.map(button), alike(rows, opened));
}

/** Label the row and those with the same answer; a second time the label is taken back. */
function correct(verdict) {
  give(rows, opened, opened.label === verdict ? null : verdict);
  corrected();
  renderDetail();
  byId("detail").querySelector(`.correction .${verdict}`).focus();
}

function step(by) {
  const next = found[found.indexOf(opened) + by];
  if (!next) return;
  opened = next;
  renderDetail();
}

function arrows(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const verdict = VERDICTS["123".indexOf(event.key)];
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (by) step(by);
  else if (verdict) correct(verdict);
}

/** Back to the row that was opened last, on its page. */
function closed() {
  const at = found.indexOf(opened);
  if (at >= 0 && Math.floor(at / PAGE) !== page) {
    page = Math.floor(at / PAGE);
    render();
  }
  document.querySelector(`tr[data-row="${opened.index}"] .open`)?.focus();
  opened = null;
}
