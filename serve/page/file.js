// The view for a file: read, judge with progress, count, download. The table is in table.js.

import { readRows } from "./api.js";
import { announce, byId, download, h } from "./dom.js";
import { sampleFile } from "./examples.js";
import { number, onLanguage, t } from "./language.js";
import { writeJudged, writeLines } from "./lines.js";
import { noted } from "./notes.js";
import { askForKey } from "./one.js";
import { inWords } from "./reason.js";
import { Run } from "./run.js";
import { stateOf } from "./stats.js";
import * as summary from "./summary.js";
import * as table from "./table.js";

const SHOWN = 50;
const REFRESH = 200;
const SPOKEN_EVERY = 10_000;

let file = null; // { name, rows, bad, notes, columns }
let trouble = null; // makes a message
let run = null;
let timer = null;
let spoken = 0;

export function start() {
  table.start(renderDownloads);
  byId("picker").addEventListener("change", (event) => open(event.target.files[0]));
  byId("sample").addEventListener("click", () => open(sampleFile()));
  byId("other").addEventListener("click", () => byId("picker").click());
  byId("start").addEventListener("click", submit);
  byId("again").addEventListener("click", () => judge(file.rows.filter((row) => ["error", "failed"].includes(stateOf(row)))));
  byId("cancel").addEventListener("click", () => run?.cancel());
  byId("download").addEventListener("click", () => save(file.rows));
  byId("download-shown").addEventListener("click", () => save(table.shown()));
  addEventListener("beforeunload", (event) => running() && event.preventDefault());
  onLanguage(render);
  render();
}

const running = () => run !== null && run.stopped === undefined;
const waiting = () => file.rows.filter((row) => stateOf(row) === "waiting");

/** Judge what is not judged yet. */
export function submit() {
  if (file && !running() && waiting().length) judge(waiting());
}

export async function open(chosen) {
  byId("picker").value = "";
  if (!chosen || running()) return;
  trouble = null;
  run = null;
  try {
    const read = await readRows(chosen);
    file = { ...read, name: chosen.name, rows: read.rows.map(opened(read.others)) };
  } catch (error) {
    if (!(error instanceof DOMException) && error.status === undefined) throw error;
    file = null;
    trouble = () => (error.status === undefined ? t("file.unreadable", { name: chosen.name }) : noted(error.message));
    if ([401, 403].includes(error.status)) askForKey();
  }
  if (file && !file.rows.length) trouble = () => t("file.empty", { name: file.name });
  byId("form-of").value = /\.(jsonl|ndjson|json)$/i.test(chosen.name) ? "jsonl" : "csv";
  table.open(file?.rows ?? []);
  render();
  announce(file ? `${t("file.rows", { n: file.rows.length })}. ${badHeading()}` : trouble());
  if (file?.rows.length) byId("start").focus();
}

/** A row that the server has read; `label` is true for correct, null without one, `given` what the file says, `beside` its other columns. */
const opened = (others) => ({ where, item, row, given, label }, index) => ({
  index, line: Number(/\d*$/.exec(where)[0]), item, label: label && label === "correct", given, source: row, judgement: null, error: null,
  beside: others.map((name) => [name, row[name]]).filter(([, value]) => ["string", "number"].includes(typeof value) && value !== ""),
});

async function judge(rows) {
  for (const row of rows) [row.judgement, row.error] = [null, null];
  run = new Run(rows, schedule);
  spoken = performance.now();
  render();
  byId("cancel").focus();
  await run.start();
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
  const text = form === "csv" ? writeJudged(rows, file.columns, inWords) : writeLines(rows);
  download(`${file.name.replace(/\.[^.]*$/, "")}.judgements.${form}`, text);
}

function render() {
  const loaded = Boolean(file?.rows.length);
  byId("drop").hidden = loaded;
  byId("loaded").hidden = !loaded;
  byId("trouble").hidden = !trouble;
  byId("trouble").textContent = trouble ? trouble() : "";
  renderBad();
  if (!loaded) return;
  byId("name").textContent = file.name;
  byId("rows").textContent = t("file.rows", { n: number(file.rows.length) });
  renderButtons();
  renderProgress();
  summary.render(file.rows);
  table.render();
}

function badHeading() {
  const n = file?.bad.length ?? 0;
  return n === 0 ? "" : n === 1 ? t("file.bad.one") : t("file.bad", { n: number(n) });
}

function renderBad() {
  const bad = file?.bad ?? [];
  byId("bad").hidden = !bad.length;
  byId("bad-heading").textContent = badHeading();
  const line = ([where, why]) => h("li", {}, h("b", {}, noted(where)), " ", noted(why).replaceAll("\n", "; "));
  const more = bad.length > SHOWN ? [h("li", {}, t("file.bad.more", { n: number(bad.length - SHOWN) }))] : [];
  byId("bad-lines").replaceChildren(...bad.slice(0, SHOWN).map(line), ...more);
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
