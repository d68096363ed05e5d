// The view for one answer: a form on one side, the judgement on the other.

import { judgeOne } from "./api.js";
import { announce, byId, h, icon } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { reveal, view } from "./judgement.js";
import { has, language, onLanguage, t } from "./language.js";
import { noted } from "./notes.js";
import { ANSWER_TYPES } from "./reason.js";
import { VERDICTS } from "./stats.js";

const NOT_VERDICTS = ["undecided", "unparsed", "failed"];
const OPTIONS = ["context", "answer_type", "tolerance", "needs"];

let shown = { kind: "legend" }; // or judgement, judging, error
let stopper = null;
let undecided = null; // the server's setting

/** Say what pipelines get for a response without a verdict. */
export function showUndecided(setting) {
  undecided = setting;
  if (shown.kind === "legend") render();
}

export function start() {
  byId("answer_type").append(...ANSWER_TYPES.map((type) => h("option", { value: type }, "")));
  byId("form").addEventListener("submit", (event) => (event.preventDefault(), submit()));
  byId("form").addEventListener("input", markStale);
  byId("add-reference").addEventListener("click", () => addReference().focus());
  for (const kind of ["right", "wrong"]) byId(`example-${kind}`).addEventListener("click", () => fill(EXAMPLES[language][kind]));
  addReference();
  onLanguage(render);
  render();
}

/** Judge the item in the form, or stop the running request. */
export async function submit() {
  if (stopper) return stopper.abort();
  const item = readForm();
  if (!item) return;
  stopper = new AbortController();
  show({ kind: "judging", item });
  try {
    const { judgement, ms } = await judgeOne(item, stopper.signal);
    show({ kind: "judgement", item, judgement, ms });
    announce(`${judgement.verdict ? "" : `${t("none")}: `}${t(judgement.verdict ?? judgement.outcome)}`);
    if (matchMedia("(max-width: 60rem)").matches) byId("result").scrollIntoView({ block: "start" });
  } catch (error) {
    if (error.status === undefined && error.name !== "AbortError") throw error;
    show(error.name === "AbortError" ? { kind: "legend", note: "stopped" } : { kind: "error", item, message: error.message });
    announce(error.name === "AbortError" ? t("stopped") : noted(error.message));
    if ([401, 403].includes(error.status)) askForKey();
  } finally {
    stopper = null;
    renderButton();
  }
}

export function askForKey() {
  byId("key-box").open = true;
  byId("key").focus();
}

/** The form as an item; null, with an error message, where the reference is missing. */
function readForm() {
  const item = current();
  const missing = item.reference.length === 0;
  const [first] = referenceFields();
  byId("reference-error").hidden = !missing;
  first.setAttribute("aria-invalid", String(missing));
  if (!missing) return item;
  first.focus();
  announce(t("reference.missing"));
  return null;
}

function fill(example) {
  byId("form").reset();
  referenceFields().slice(1).forEach((field) => field.closest(".accepted").remove());
  byId("question").value = example.question;
  byId("response").value = example.response;
  referenceFields()[0].value = example.reference;
  byId("reference-error").hidden = true;
  submit();
}

const referenceFields = () => [...document.querySelectorAll("#references textarea")];

function addReference() {
  const field = h("textarea", { rows: 1, spellcheck: "false", dir: "auto", "aria-describedby": "reference-error" });
  const remove = h("button", { type: "button", class: "remove", onclick: () => (field.parentElement.remove(), renderReferences(), referenceFields()[0].focus(), markStale()) }, "×");
  byId("references").append(h("div", { class: "accepted" }, field, remove));
  renderReferences();
  return field;
}

function renderReferences() {
  const fields = referenceFields();
  fields.forEach((field, index) => {
    const n = index + 1;
    field.id = index ? `reference-${n}` : "reference";
    if (index) field.setAttribute("aria-label", t("reference.n", { n }));
    const remove = field.nextElementSibling;
    remove.hidden = fields.length === 1;
    remove.setAttribute("aria-label", t("reference.remove", { n }));
  });
}

function markStale() {
  const note = byId("stale");
  if (note) note.hidden = JSON.stringify(current()) === JSON.stringify(shown.item);
}

/** The form as an item, without error messages. */
function current() {
  const filled = referenceFields().map((field) => field.value).filter((text) => text.trim());
  const item = { question: byId("question").value, reference: filled.length === 1 ? filled[0] : filled, response: byId("response").value };
  for (const name of OPTIONS) if (byId(name).value.trim()) item[name] = byId(name).value.trim();
  return item;
}

function show(what) {
  shown = what;
  render();
}

function renderButton() {
  byId("judge").textContent = t(stopper ? "stop" : "judge");
}

function render() {
  renderButton();
  renderReferences();
  for (const option of byId("answer_type").options) option.textContent = option.value ? t(`type.${option.value}`) : t("answer_type.auto");
  const result = byId("result");
  result.setAttribute("aria-busy", String(shown.kind === "judging"));
  result.replaceChildren(...content());
  markStale();
  reveal(result);
}

function content() {
  const title = h("h2", { class: "unseen" }, t("result"));
  switch (shown.kind) {
    case "judging":
      return [title, h("p", { class: "judging" }, t("judging"))];
    case "error":
      return [title, h("div", { class: "trouble", role: "alert" }, noted(shown.message))];
    case "judgement":
      return [title, h("p", { id: "stale", class: "note", hidden: true }, t("stale")), ...view(shown.item, shown.judgement, { ms: shown.ms })];
    default:
      return [shown.note ? h("p", { class: "note" }, t(shown.note)) : null, legend()].filter(Boolean);
  }
}

function legend() {
  const entry = (state) => [h("dt", { class: state }, icon(state), t(state)), h("dd", {}, t(`${state}.means`))];
  const list = (states) => h("dl", {}, states.flatMap(entry));
  return h("div", { class: "legend" }, h("h2", {}, t("legend.heading")), list(VERDICTS), list(NOT_VERDICTS), h("p", { class: "quiet" }, t("legend.note"), " ", has(`undecided.${undecided}`) ? t(`undecided.${undecided}`) : null));
}
