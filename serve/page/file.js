// The view for a file: read, judge with progress, count, download. The table is in table.js.

import { announce, byId, download, h } from "./dom.js";
import { sampleFile } from "./examples.js";
import * as label from "./label.js";
import { number, onLanguage, t } from "./language.js";
import { writeJudged, writeLines } from "./lines.js";
import { noted } from "./notes.js";
import { askForKey } from "./one.js";
import { Run } from "./run.js";
import { badHeading, isLines, labelledFile, readFile, recallLabels, renderBad } from "./sheet.js";
import { isOpen, stateOf } from "./stats.js";
import * as summary from "./summary.js";
import * as table from "./table.js";

const REFRESH = 200;
const SPOKEN_EVERY = 10_000;

let file = null; // as readFile gives it
let source = null; // the file that was chosen
let trouble = null; // makes a message
let run = null;
let timer = null;
let spoken = 0;
let saved = ""; // the results in the last download

export function start() {
  table.start(renderDownloads);
  byId("picker").addEventListener("change", (event) => open(event.target.files[0]));
  byId("sample").addEventListener("click", () => open(sampleFile()));
  byId("other").addEventListener("click", () => byId("picker").click());
  byId("separator").addEventListener("change", ({ target: { value } }) => open(source, value));
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
  addEventListener("hashchange", () => {
    if (file && !running()) recallLabels(toLabel()); // there may be new ones
    render();
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
  const rows = file.rows.filter(isOpen);
  return { ...file, all: rows, rows, bad: [], ofFile: true };
}

export async function open(chosen, separator = "") {
  byId("picker").value = "";
  if (!chosen || running() || (results() !== saved && !confirm(t("file.discard")))) return render();
  run = null;
  [source, [file, trouble]] = [chosen, await readFile(chosen, separator)];
  if (file) file.separator = separator;
  if (file && !file.rows.length) trouble = () => t("file.empty", { name: file.name });
  saved = results();
  label.leave();
  byId("form-of").value = isLines(chosen.name) ? "jsonl" : "csv";
  table.open(file);
  render();
  announce(file ? `${t("file.rows", { n: file.rows.length })}. ${badHeading(file.bad)}` : trouble());
  if (file?.rows.length) byId("start").focus();
}

async function judge(rows) {
  for (const row of rows) [row.judgement, row.error] = [null, null];
  run = new Run(rows, schedule);
  spoken = performance.now();
  render();
  byId("cancel").focus();
  await run.start();
  recallLabels(toLabel());
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

function save(rows) {
  const form = byId("form-of").value;
  const text = form === "csv" ? writeJudged(file, rows) : writeLines(rows);
  download(`${file.name.replace(/(\.judgements)?\.[^.]*$/, "")}.judgements.${form}`, text);
}

function render() {
  const loaded = Boolean(file?.rows.length);
  byId("drop").hidden = loaded;
  byId("loaded").hidden = !loaded;
  byId("trouble").hidden = !trouble;
  byId("trouble").textContent = trouble ? trouble() : "";
  renderBad(byId("bad"), file?.bad ?? []);
  renderNotes();
  const labelled = loaded ? "" : labelledFile();
  byId("kept").textContent = labelled ? t("file.kept", { name: labelled }) : "";
  if (!loaded) return;
  byId("name").textContent = file.name;
  byId("rows").textContent = t("file.rows", { n: number(file.rows.length) });
  renderButtons();
  renderProgress();
  summary.render(file.rows);
  table.render();
}

function renderNotes() {
  const notes = (file?.notes ?? []).filter((note) => !note.includes(" rows are set aside")); // they are listed
  byId("file-notes").hidden = !notes.length;
  byId("file-notes").replaceChildren(...notes.map((note) => h("li", {}, noted(note))));
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
  byId("separator").value = file.separator;
  const open = file.rows.filter(isOpen);
  const todo = open.filter((row) => !row.label).length;
  byId("by-hand").hidden = on || !open.length;
  byId("by-hand").classList.toggle("primary", todo > 0);
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
