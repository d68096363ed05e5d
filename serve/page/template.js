// The view for a template of one's own judge prompt: written or opened, tried, downloaded.

import { tryTemplate } from "./api.js";
import { commandBox, quoted } from "./command.js";
import { announce, byId, download, h, icon } from "./dom.js";
import { number, onLanguage, t, words } from "./language.js";
import { noted } from "./notes.js";
import { askForKey } from "./one.js";
import { units } from "./quote.js";
import { VERDICTS } from "./stats.js";
import { EXAMPLE, FIELDS, SAID, TRIALS } from "./trials.js";

const LONGEST = 65_536;

let shown = { kind: "nothing" }; // or trying, tried, error, complaint
let running = null; // the texts of the running trial
let again = false; // another trial was asked for

const said = (key, values) => words(SAID[key], values);

export function start() {
  byId("template-picker").addEventListener("change", (event) => open(event.target.files[0]));
  byId("template-example").addEventListener("click", fill);
  byId("template-form").addEventListener("submit", (event) => (event.preventDefault(), submit()));
  byId("template-form").addEventListener("input", markStale);
  byId("template-text").value ||= words(EXAMPLE.template);
  onLanguage(render);
  render();
}

const asked = () => ({ template: byId("template-text").value, prompt: byId("template-prompt").value });

function fill() {
  byId("template-text").value = words(EXAMPLE.template);
  byId("template-prompt").value = words(EXAMPLE.prompt);
  submit();
}

/** Put a file into the field and try it. */
export async function open(chosen) {
  byId("template-picker").value = "";
  if (!chosen) return;
  try {
    if (chosen.size > 4 * LONGEST) throw new RangeError();
    byId("template-text").value = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError || error instanceof DOMException)) throw error;
    return show({ kind: "complaint", what: ["unreadable", { name: chosen.name }] });
  }
  return submit();
}

/** Try what is in the fields; while a trial runs, after it, if the texts have changed. */
export async function submit() {
  again = running !== null;
  if (again) return;
  const { template, prompt } = asked();
  if (!template.trim()) {
    byId("template-text").focus();
    return show({ kind: "complaint", what: ["empty"] });
  }
  running = JSON.stringify(asked());
  show({ kind: "trying" });
  try {
    const result = await tryTemplate(template, prompt.trim() ? prompt : null);
    show({ kind: "tried", template, prompt, result });
    announce(headline(result));
    if (matchMedia("(max-width: 60rem)").matches) byId("template-result").scrollIntoView({ block: "start" });
  } catch (error) {
    if (error.status === undefined) throw error;
    show({ kind: "error", template, prompt, error });
    if ([401, 403].includes(error.status)) askForKey();
  } finally {
    again &&= running !== JSON.stringify(asked());
    running = null;
    renderButton();
    if (again) submit();
  }
}

function show(what) {
  shown = what;
  render();
}

function markStale() {
  const { template, prompt } = asked();
  const note = byId("template-stale");
  if (note) note.hidden = template === shown.template && prompt === shown.prompt;
}

const renderButton = () => (byId("template-try").textContent = t(running ? "template.trying" : "template.try"));

function render() {
  renderButton();
  const box = byId("template-result");
  box.setAttribute("aria-busy", String(shown.kind === "trying"));
  box.replaceChildren(...content().filter(Boolean));
  markStale();
}

function content() {
  const stale = h("p", { id: "template-stale", class: "note", hidden: true }, t("template.stale"));
  switch (shown.kind) {
    case "trying":
      return [h("p", { class: "judging" }, t("template.trying"))];
    case "complaint":
      return [h("p", { class: "trouble", role: "alert" }, said(...shown.what))];
    case "error":
      return [stale, ...failure(shown.error)];
    case "tried":
      return [stale, ...outcome(shown.result)];
    default:
      return [legend()];
  }
}

function legend() {
  const entry = ([field, what]) => [h("dt", {}, h("code", {}, field)), h("dd", {}, words(what))];
  return h("div", { class: "legend" }, h("h2", {}, said("parts")), h("dl", {}, Object.entries(FIELDS).flatMap(entry)));
}

/** The server's message: of the template (422), or of anything else that went wrong. */
function failure({ status, message }) {
  const heading = status === 422 ? h("h2", {}, said("unusable")) : null;
  return [heading, h("p", { class: "trouble", role: "alert" }, noted(message))];
}

const failedOf = ({ trials }) => trials.filter((trial) => !trial.passed);

function headline(result) {
  const [n, total] = [failedOf(result).length, result.trials.length].map((count) => number(count));
  return said(failedOf(result).length ? "failed" : "passed", { n, total });
}

function outcome(result) {
  const failed = failedOf(result).length > 0;
  const heading = h("h2", { class: failed ? "incorrect" : "correct" }, icon(failed ? "incorrect" : "correct"), headline(result));
  return [heading, trials(result), replies(result), read(result), failed ? h("p", {}, said("change")) : use(result)];
}

const part = (key, ...children) => h("section", {}, h("h3", {}, said(key)), children);

function trials({ trials: all }) {
  const line = ({ name, passed, error }) =>
    h("li", { class: passed ? "correct" : "incorrect" }, icon(passed ? "correct" : "incorrect"),
      h("span", {}, h("span", { class: "unseen" }, `${said(passed ? "trialPassed" : "trialFailed")}: `), TRIALS[name] ? words(TRIALS[name]) : name,
        error ? h("span", { class: "why" }, error) : null));
  const failedFirst = [...all].sort((a, b) => Number(a.passed) - Number(b.passed));
  return part("trials", h("ul", { class: "trials" }, failedFirst.map(line)));
}

function replies({ replies: texts }) {
  const reply = (text) => (text === null ? said("none") : h("code", { class: "quoted" }, text));
  const line = (verdict) => h("div", {}, h("dt", { class: verdict }, t(verdict)), h("dd", {}, reply(texts[verdict])));
  return part("replies", h("dl", { class: "facts" }, VERDICTS.map(line)));
}

/** The prompt with its fields marked and named; why it is none of this template; null without a prompt. */
function read({ read: fields, spans, unread }) {
  if (unread) return part("unread", h("p", { class: "trouble" }, unread));
  if (!fields) return null;
  return part("read", h("div", { class: "text", tabindex: 0, role: "group", "aria-label": said("read") }, marked(shown.prompt, spans)));
}

function marked(text, spans) {
  const pieces = [];
  let at = 0;
  const places = Object.entries(spans).map(([name, span]) => [name, ...span.map((place) => units(text, place))]);
  for (const [name, start, end] of places.sort((a, b) => a[1] - b[1])) {
    const field = h("span", { class: "field-name" }, name);
    pieces.push(text.slice(at, start), field, start < end ? h("mark", {}, text.slice(start, end)) : h("span", { class: "quiet" }, said("blank")));
    at = end;
  }
  return [...pieces, text.slice(at)];
}

function use({ name }) {
  const file = `${name}.yaml`;
  const save = h("button", { type: "button", onclick: () => download(file, shown.template) }, said("save", { name: file }));
  const command = `gradegpt serve cascade ${quoted(`templates=[${file}]`)}`;
  return part("use", save, h("p", { class: "next" }, said("start")), commandBox(said("start"), command),
    h("p", { class: "quiet" }, said("several", { name: file })));
}
