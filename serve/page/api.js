// Requests to the server: one item, several items, and retries.

import { t } from "./language.js";
import { refused, whenReady } from "./ready.js";
import { keep, recall } from "./store.js";

const STORE = "gradegpt.key";

/** An HTTP error with the server's message; `status` 0 means that there was no reply. */
export class ServerError extends Error {
  constructor(message, status, wait = null) {
    super(message);
    this.status = status;
    this.wait = wait;
  }
}

export const readKey = () => recall(STORE, "sessionStorage") ?? "";
export const keepKey = (key) => keep(STORE, key || null, "sessionStorage");

const key = () => document.getElementById("key").value.trim();
const JUDGE = "v1/judge";
const endpoint = (path) => new URL(path, document.baseURI).href;

/** The judgement of `item` and the milliseconds of the request. */
export async function judgeOne(item, signal) {
  await whenReady(signal);
  const started = performance.now();
  const { judgement } = await post(JUDGE, item, signal);
  if (!judgement) throw new ServerError(t("http.odd", { status: 200 }), 200);
  return { judgement, ms: performance.now() - started };
}

/** The judgements of `items`, in order. */
export async function judgeMany(items, signal) {
  const { judgements } = await post(JUDGE, { items }, signal);
  if (judgements?.length !== items.length) throw new ServerError(t("http.odd", { status: 200 }), 200);
  return judgements;
}

/**
 * The rows of a file, as every command of the server reads them.
 *
 * `sheet` is one of a workbook, `separator` is between the accepted answers in a cell, `key` the references that a class list has not, by its columns of questions.
 */
export async function readRows(file, { sheet = "", separator = "", key = {} }) {
  const asked = new URLSearchParams({ name: file.name, sheet, separator, key: JSON.stringify(key) });
  return post(`v1/table?${asked}`, await file.arrayBuffer());
}

/** The judgements that were made of rows, with what the `graded` rows add to them. */
export async function judgeByNeighbours(rows, graded) {
  const examples = graded.map(({ item, label }) => ({ ...item, verdict: label }));
  const asked = { items: rows.map(({ item }) => item), judgements: rows.map(({ own }) => own), graded: examples };
  return (await post("v1/neighbours", asked)).judgements;
}

async function post(path, given, signal) {
  await whenReady(signal);
  const isFile = given instanceof ArrayBuffer;
  const headers = { "Content-Type": isFile ? "application/octet-stream" : "application/json" };
  const body = isFile ? given : JSON.stringify(given);
  if (key()) headers.Authorization = `Bearer ${key()}`;
  let reply;
  try {
    reply = await fetch(endpoint(path), { method: "POST", headers, body, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ServerError(t("http.network"), 0);
  }
  const said = await reply.json().catch((error) => {
    if (signal?.aborted) throw error;
    return null;
  });
  if (reply.ok && said) return said;
  if (reply.status === 503) refused();
  throw new ServerError(explained(reply.status, said), reply.status, retryAfter(reply));
}

function explained(status, said) {
  const message = said?.error?.message ?? t("http.odd", { status });
  return status === 401 || status === 403 ? `${t("http.401")} (${message})` : message;
}

function retryAfter(reply) {
  const value = reply.headers.get("Retry-After");
  if (value === null) return null;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

/** The equivalent shell command, with a variable in place of the API key. */
export function curl(item) {
  const body = `'${JSON.stringify(item).replaceAll("'", `'\\''`)}'`;
  const secret = key() ? `  -H "Authorization: Bearer $GRADEGPT_API_KEY" \\\n` : "";
  return `curl -sS '${endpoint(JUDGE).replaceAll("'", "%27")}' \\\n  -H 'Content-Type: application/json' \\\n${secret}  -d ${body}`;
}
