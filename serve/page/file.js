// The view for a file: read, judge with progress, count, download. The table is in table.js.

import { judgeByNeighbours } from "./api.js";
import { writeTable } from "./csv.js";
import { announce, byId, download, h } from "./dom.js";
import { sampleFile } from "./examples.js";
import * as label from "./label.js";
import { number, onLanguage, t } from "./language.js";
import { writeJudged } from "./lines.js";
import { mapped, noted } from "./notes.js";
import { askForKey } from "./one.js";
import { Run } from "./run.js";
import { badHeading, isLines, keepLabels, labelledFile, readFile, recallLabels, renderBad } from "./sheet.js";
import { grouped, stateOf } from "./stats.js";
import * as summary from "./summary.js";
import * as table from "./table.js";

const REFRESH = 200;
const SPOKEN_EVERY = 10_000;
const ENOUGH = 10; // labels of a question from which on they say something of its other answers

let file = null; // as readFile gives it
let source = null; // the file that was chosen
let reading = {}; // as in readRows
let known = new Map(); // by question its labels, when the server was asked last
let trouble = null; // makes a message
let sheets = []; // of a workbook, of which one is to be chosen
let run = null;
let timer = null;
let spoken = 0;
let saved = ""; // the results in the last download

export function start() {
  table.start(renderDownloads, corrected);
  summary.start(() => file && render(), saveScores);
  byId("picker").addEventListener("change", (event) => open(event.target.files[0]));
  byId("sample").addEventListener("click", () => open(sampleFile()));
  byId("other").addEventListener("click", () => byId("picker").click());
  byId("separator").addEventListener("change", ({ target: { value } }) => open(source, { ...reading, separator: value }));
  byId("by-hand").addEventListener("click", () => label.use(toLabel()));
  byId("start").addEventListener("click", submit);
  byId("again").addEventListener("click", () => judge(file.rows.filter((row) => ["error", "failed"].includes(stateOf(row)))));
  byId("cancel").addEventListener("click", () => run?.cancel());
  byId("download").addEventListener("click", () => {
    save(file.all);
    saved = results();
  });
  byId("download-shown").addEventListener("click", () => save(table.shown().filter((row) => row.judgement)));
  addEventListener("beforeunload", (event) => (running() || results() !== saved) && event.preventDefault());
  byId("asks").addEventListener("submit", useKey);
  addEventListener("hashchange", () => {
    if (location.hash !== "#file") return;
    if (file && !running()) recallLabels(file); // there may be new ones
    render();
    askNeighbours();
  });
  onLanguage(render);
  render();
}

const running = () => run !== null && run.stopped === undefined;
const waiting = () => file.rows.filter((row) => stateOf(row) === "waiting");

/** Judge what is not judged yet. */
export function submit() {
  if (file && !running() && waiting().length) judge(waiting());
}

/** What there is to save. */
const results = () => file?.rows.map((row) => `${stateOf(row)} ${row.label}`).join() ?? "";

/** The rows without a verdict as a sheet for the view of labels. */
function toLabel() {
  const rows = file.rows.filter((row) => !row.judgement?.verdict);
  return { ...file, all: rows, rows, bad: [], ofFile: true };
}

export async function open(chosen, how = {}) {
  byId("picker").value = "";
  if (!chosen || running() || (results() !== saved && !confirm(t("file.discard")))) return render();
  run = null;
  known = new Map();
  [source, reading, [file, trouble, sheets = []]] = [chosen, how, await readFile(chosen, how)];
  if (file?.asks) return askForReferences();
  if (file) recallLabels(file);
  if (file && !file.rows.length) trouble = () => t("file.empty", { name: file.name });
  saved = results();
  label.leave();
  byId("form-of").value = isLines(chosen.name) ? "jsonl" : "csv";
  table.open(file);
  render();
  announce(file ? `${t("file.rows", { n: file.rows.length })}. ${badHeading(file.bad)}` : trouble());
  if (file?.rows.length) byId("start").focus();
}

/** The references that a class list has not. */
function askForReferences() {
  const line = (question, at) => h("label", {}, h("span", {}, question), h("input", { id: `asked-${at}`, name: question, autocomplete: "off", dir: "auto" }));
  byId("asks").replaceChildren(h("p", {}, t("asks", { name: file.name })), ...file.asks.map(line), h("p", {}, h("button", { class: "primary" }, t("asks.use")), " ", h("label", { for: "picker", class: "link" }, t("file.other"))));
  table.open(null);
  render();
  byId("asked-0").focus();
}

function useKey(event) {
  event.preventDefault();
  open(source, { ...reading, key: Object.fromEntries(new FormData(event.target)) });
}

/** A person's verdict on a row, and on those with the same answer. */
function corrected() {
  keepLabels(file);
  render();
  askNeighbours();
}

/** What the labels of a question say of its other answers, from ten labels on; the server judges by them. */
async function askNeighbours() {
  if (!file || running()) return;
  for (const [question, rows] of grouped(file.rows.filter((row) => row.own), (row) => row.asked)) {
    const [graded, others] = [rows.filter((row) => row.label), rows.filter((row) => !row.label)];
    const labels = graded.map((row) => `${row.index}${row.label}`).join();
    if (labels === (known.get(question) ?? "")) continue;
    known.set(question, labels);
    const made = graded.length < ENOUGH || !others.length ? others.map((row) => row.own) : await judgeByNeighbours(others, graded).catch(failed);
    if (known.get(question) !== labels) continue; // labelled again meanwhile
    if (!made) known.delete(question); // so that it is asked again
    made?.forEach((judgement, at) => (others[at].judgement = judgement));
  }
  render();
}

function failed(error) {
  if (error.status === undefined) throw error;
  trouble = () => noted(error.message);
}

async function judge(rows) {
  for (const row of rows) [row.judgement, row.error] = [null, null];
  run = new Run(rows, schedule);
  spoken = performance.now();
  render();
  byId("cancel").focus();
  await run.start();
  known = new Map();
  await askNeighbours();
  render();
  announce(outcome());
  if (run.end === t("http.401") || run.end.startsWith(t("http.401"))) askForKey();
  else (byId("download").hidden ? byId("start") : byId("download")).focus();
}

/** Many chunks may end at once; the page is drawn a few times a second. */
function schedule() {
  timer ??= setTimeout(() => {
    timer = null;
    render();
    if (running() && performance.now() - spoken > SPOKEN_EVERY) {
      spoken = performance.now();
      announce(t("progress.counts", { done: number(run.done), total: number(run.rows.length) }));
    }
  }, REFRESH);
}

const stem = () => file.name.replace(/(\.judgements)?\.[^.]*$/, "");

function save(rows) {
  const form = byId("form-of").value;
  download(`${stem()}.judgements.${form}`, writeJudged(file, rows, form));
}

const saveScores = (columns, lines) =>
  download(`${stem()}.scores.csv`, writeTable(columns, lines.map((line) => Object.fromEntries(line.map((cell, at) => [columns[at], cell])))));

function render() {
  const loaded = Boolean(file?.rows.length);
  byId("asks").hidden = !file?.asks;
  byId("drop").hidden = loaded || Boolean(file?.asks);
  byId("loaded").hidden = !loaded;
  byId("trouble").hidden = !trouble;
  byId("trouble").textContent = trouble ? trouble() : "";
  byId("sheets").hidden = !sheets.length;
  byId("sheets").replaceChildren(...sheets.map((sheet) => h("button", { type: "button", onclick: () => open(source, { ...reading, sheet }) }, sheet)));
  renderBad(byId("bad"), file?.bad ?? []);
  renderNotes();
  const labelled = loaded ? "" : labelledFile();
  byId("kept").textContent = labelled ? t("file.kept", { name: labelled }) : "";
  if (!loaded) return;
  byId("name").textContent = file.name;
  byId("rows").textContent = t("file.rows", { n: number(file.rows.length) });
  renderButtons();
  renderProgress();
  summary.render(file);
  table.render();
}

function renderNotes() {
  const said = (file?.notes ?? []).filter((note) => !/^columns: | set aside, /.test(note)).map(noted); // the second are listed
  const sheet = file && reading.sheet ? [t("file.sheet", reading)] : [];
  const notes = [...sheet, ...(file ? mapped(file.fields) : []), ...said];
  byId("file-notes").hidden = !notes.length;
  byId("file-notes").replaceChildren(...notes.map((note) => h("li", {}, note)));
}

function renderButtons() {
  const left = waiting().length;
  const retry = file.rows.filter((row) => ["error", "failed"].includes(stateOf(row))).length;
  const on = running();
  byId("start").hidden = on || !left;
  byId("start").textContent = t(left === file.rows.length ? "file.start" : "file.continue", { n: number(left) });
  byId("again").hidden = on || !retry;
  byId("again").textContent = t("file.again", { n: number(retry) });
  byId("cancel").hidden = !on;
  byId("other").hidden = on;
  byId("separator-box").hidden = on;
  byId("separator").value = reading.separator ?? "";
  const open = toLabel().rows;
  const todo = open.filter((row) => !row.label).length;
  byId("by-hand").hidden = on || !open.length;
  byId("by-hand").classList.toggle("primary", todo > 0 && !left);
  byId("by-hand").textContent = t(todo ? "file.label" : "file.labelled", { n: number(todo || open.length) });
  renderDownloads();
}

function renderDownloads() {
  const shown = table.shown().filter((row) => row.judgement).length;
  const all = file.rows.filter((row) => row.judgement).length;
  byId("download").hidden = byId("form-box").hidden = running() || !all;
  byId("download-shown").hidden = running() || !shown || shown === all;
  byId("download-shown").textContent = t("file.download.shown", { n: number(shown) });
}

function renderProgress() {
  byId("progress").hidden = !run;
  if (!run) return;
  byId("bar").max = run.rows.length;
  byId("bar").value = run.done;
  byId("bar").hidden = !running();
  byId("progress-text").textContent = running() ? pace() : outcome();
  byId("notice").textContent = run.notice?.() ?? "";
}

function pace() {
  const parts = [t("progress.counts", { done: number(run.done), total: number(run.rows.length) })];
  if (run.done) {
    const rate = run.done / run.seconds;
    parts.push(t("progress.rate", { rate: number(rate, rate < 10 ? 1 : 0) }));
    parts.push(t("progress.left", { time: time((run.rows.length - run.done) / rate) }));
  }
  return parts.join(" · ");
}

function outcome() {
  const values = { done: number(run.done), total: number(run.rows.length), time: time(run.seconds), message: noted(run.end) };
  const key = ["done", "cancelled"].includes(run.end) ? run.end : "stopped";
  return t(`progress.${key}`, values);
}

const time = (seconds) =>
  seconds < 120 ? t("progress.seconds", { n: number(seconds, seconds < 1 ? 2 : seconds < 10 ? 1 : 0) }) : t("progress.minutes", { n: number(seconds / 60) });
