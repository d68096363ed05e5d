// Sends rows to the server in chunks, a few at a time, until all are judged or the run is cancelled.

import { judgeMany } from "./api.js";
import { t } from "./language.js";
import { noted } from "./notes.js";

const ROWS = 32;
const CHARACTERS = 1_000_000;
const AT_ONCE = 4;
const TRIES = 4;
const GIVE_UP = 3;
const LONGEST_WAIT = 60;
const BUSY = 429;
const REFUSED_ROW = new Set([400, 413, 422]);
const TOO_SLOW = 504;
const DOWN = new Set([0, 503]);

/** Judges `rows`, writing `judgement`, which is the server's `own`, or `error` into each; `changed` is called after every step. */
export class Run {
  #chunks;
  #stopper = new AbortController();
  #changed;
  #inRow = 0; // chunks that the server failed on, without one that it judged

  constructor(rows, changed) {
    this.rows = rows;
    this.done = 0;
    this.started = performance.now();
    this.notice = null;
    this.end = null; // "done", "cancelled", or the message of what stopped it
    this.#chunks = chunked(rows);
    this.#changed = changed;
  }

  get seconds() {
    return ((this.stopped ?? performance.now()) - this.started) / 1000;
  }

  async start() {
    const workers = Array.from({ length: Math.min(AT_ONCE, this.#chunks.length) }, () => this.#work());
    try {
      await Promise.all(workers);
      this.end ??= "done";
    } finally {
      this.stopped = performance.now();
      this.notice = null;
      this.#changed();
    }
  }

  cancel() {
    this.#stop("cancelled");
  }

  #stop(why) {
    this.end ??= why;
    this.#stopper.abort();
  }

  async #work() {
    while (this.end === null) {
      const chunk = this.#chunks.shift();
      if (!chunk) return;
      await this.#ask(chunk);
      this.#changed();
    }
  }

  async #ask(chunk) {
    for (let attempt = 1; this.end === null; attempt += 1) {
      try {
        const judgements = await judgeMany(chunk.map((row) => row.item), this.#stopper.signal);
        judgements.forEach((judgement, index) => this.#settle(chunk[index], judgement));
        this.notice = null;
        this.#inRow = 0;
        return;
      } catch (error) {
        if (this.#stopper.signal.aborted) return;
        if (error.status === undefined) throw error;
        if (REFUSED_ROW.has(error.status) || (error.status === TOO_SLOW && chunk.length > 1)) await this.#halve(chunk, error);
        else if (error.status === BUSY || (retryable(error) && attempt < TRIES)) {
          await this.#pause(error, attempt);
          continue;
        } else if (retryable(error) && !DOWN.has(error.status) && this.#inRow < GIVE_UP) this.#refuse(chunk, error);
        else this.#stop(error.message);
        return;
      }
    }
  }

  /** One invalid row refuses its whole request, and many slow rows may exceed its deadline: ask again in halves. */
  async #halve(chunk, error) {
    if (chunk.length === 1) {
      this.#refuse(chunk, error);
      return;
    }
    const middle = chunk.length >> 1;
    await this.#ask(chunk.slice(0, middle));
    await this.#ask(chunk.slice(middle));
  }

  #settle(row, judgement) {
    row.own = row.judgement = judgement;
    this.done += 1;
  }

  #refuse(chunk, error) {
    this.#inRow += retryable(error);
    for (const row of chunk) row.error = error.message;
    this.done += chunk.length;
  }

  async #pause(error, attempt) {
    const seconds = Math.min(LONGEST_WAIT, error.wait ?? 2 ** Math.min(attempt - 1, 5));
    const n = Math.max(1, Math.round(seconds));
    this.notice = () => (error.status === BUSY ? t("progress.busy", { n }) : t("progress.retry", { n, message: noted(error.message) }));
    this.#changed();
    const { signal } = this.#stopper;
    await new Promise((resume) => {
      const timer = setTimeout(resume, Math.max(0.2, seconds) * 1000);
      signal.addEventListener("abort", () => (clearTimeout(timer), resume()), { once: true });
    });
  }
}

const retryable = ({ status }) => status === 0 || status === 408 || status >= 500;

function chunked(rows) {
  const chunks = [];
  let chunk = [];
  let size = 0;
  for (const row of rows) {
    const characters = JSON.stringify(row.item).length;
    if (chunk.length && (chunk.length === ROWS || size + characters > CHARACTERS)) {
      chunks.push(chunk);
      [chunk, size] = [[], 0];
    }
    chunk.push(row);
    size += characters;
  }
  return chunk.length ? [...chunks, chunk] : chunks;
}
