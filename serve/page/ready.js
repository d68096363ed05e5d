// Whether the server accepts requests: it does not while its judge is loaded, or before it stops.

import { announce, byId } from "./dom.js";
import { onLanguage, t } from "./language.js";

const PAUSE = 1000;

let state = "ready"; // or loading, silent
let waiting = null; // the promise of the running poll
let renew = () => {};

/** Ask for the first time; `onReady` is called as soon as the judge is there, and after each wait. */
export function start(onReady) {
  renew = onReady;
  onLanguage(render);
  poll();
}

/** Resolves when the server accepts requests, or at once where it does; rejects when `signal` aborts. */
export async function whenReady(signal) {
  if (!waiting) return;
  await Promise.race([waiting, new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))]);
}

/** The server refused a request as not ready: poll until it is. */
export function refused() {
  poll();
}

function poll() {
  waiting ??= untilReady().finally(() => (waiting = null));
}

async function untilReady() {
  for (let asked = await ask(); asked !== "ready"; asked = await ask()) {
    show(asked);
    await new Promise((resume) => setTimeout(resume, PAUSE));
  }
  show("ready");
  renew();
}

/** The server's state. A server without the route, or one behind a proxy that hides it, counts as ready. */
async function ask() {
  const reply = await fetch(new URL("ready", document.baseURI), { cache: "no-store" }).catch(() => null);
  if (reply?.status === 503) return "loading";
  return reply || state === "ready" ? "ready" : "silent";
}

function show(now) {
  if (now === state) return;
  if (now !== "ready") announce(t(`ready.${now}`));
  else announce(t("ready.now"));
  state = now;
  render();
}

function render() {
  byId("ready").hidden = state === "ready";
  byId("ready").textContent = state === "ready" ? "" : t(`ready.${state}`);
}
