// A judgement on the page: verdict, confidence, reason, and the key sentence in the response.

import { curl } from "./api.js";
import { commandBox } from "./command.js";
import { h, icon } from "./dom.js";
import { has, number, percent, t } from "./language.js";
import { textBox } from "./math.js";
import { noted } from "./notes.js";
import { find, spanOf } from "./quote.js";
import { saidWhy } from "./reason.js";
import { disagrees } from "./stats.js";

// The words of a chain are English, as a model is trained on them; the page says them in its language.
const KEY = "The model response gives its answer here: ";
const ALSO = "And here: ";
const NO_KEY = "The model response gives no answer that can be graded.";
const GLOSS = "In English: ";
const COMPARES = /^The reference answer (?<reference>.*) is an? (?<type>[a-z ]+); the model response gives (?<answer>.*)\.$/s;
const WHY = "Reason: ";
const AGREE = "The answers agree: ";
const LEADS = { [KEY]: "chain.says.key", [ALSO]: "chain.says.also", [GLOSS]: "chain.says.gloss", [WHY]: "", [AGREE]: "chain.says.agree" };
const TAG = /(<(?:Yes|No)>)[\s.。]*$/;

/** The verdict, or the outcome where there is none. */
const stateOf = (judgement) => judgement.verdict ?? judgement.outcome;

/** The whole judgement. `row` may hold `label`, `ms`, `beside` and `texts` (show question and reference). */
export function view(item, judgement, row = {}) {
  return [
    headline(judgement, row),
    facts(judgement, row),
    row.texts ? texts(item) : null,
    passage(item, judgement),
    chain(judgement),
    technical(item, judgement, row),
  ].filter(Boolean);
}

/** A row that the server did not judge. */
export function unjudged(item, state, message) {
  const means = state === "error" ? t("error.means") : null;
  return [
    banner(state, t("none"), t(state), means, message ? h("p", { class: "note" }, noted(message)) : null),
    texts(item),
    passage(item, { outcome: state }),
    technical(item),
  ];
}

/** The headline: a verdict in large letters, or the outcome without one. */
export function banner(state, above, word, below, ...more) {
  const lines = [
    above ? h("p", { class: "above" }, above) : null,
    h("p", { class: "word" }, word),
    below ? h("p", { class: "means" }, below) : null,
    ...more,
  ];
  return h("div", { class: `banner ${state}`, "data-state": state }, icon(state), h("div", {}, lines));
}

function headline(judgement, { label }) {
  const state = stateOf(judgement);
  const above = judgement.verdict ? null : t("none");
  const note = disagrees({ judgement, label }) ? h("p", { class: "apart" }, t("disagrees")) : null;
  return banner(state, above, t(state), t(`${state}.means`), note);
}

function facts(judgement, { label, beside = [] }) {
  const rows = [
    judgement.verdict ? ["confidence", sure(judgement), "sure"] : null,
    judgement.withheld ? ["withheld", withheld(judgement)] : null,
    ["reason", saidWhy(judgement) || judgement.reason],
    ["answer", judgement.answer === null ? t("answer.none") : textBox(judgement.answer, { class: "quoted" }, { as: "span" })],
    ["method", methodOf(judgement)],
    label ? ["label", t(label).toLowerCase()] : null,
  ];
  const line = (name, value, kind) => h("div", { class: kind }, h("dt", {}, name), h("dd", {}, value));
  const others = beside.map(([name, value]) => line(name, String(value)));
  return h("dl", { class: "facts" }, others, rows.filter(Boolean).map(([key, value, kind]) => line(t(key), value, kind)));
}

function sure({ confidence }) {
  if (confidence === null) return t("confidence.none");
  return [sureness(confidence), h("meter", { min: 0, max: 1, value: confidence, "aria-label": t("confidence") })];
}

/** The verdict of which the judge was not sure enough. */
export function withheld({ withheld: verdict, confidence }) {
  const said = t(verdict).toLowerCase();
  return confidence === null ? t("withheld.verdict", { verdict: said }) : t("withheld.sure", { verdict: said, percent: percent(Math.floor(confidence * 100 + 1e-9) / 100, 0) });
}

/** Rounded down, so that an uncertain verdict never shows 100 %. */
export const sureness = (confidence) => percent(Math.floor(confidence * 1000 + 1e-9) / 1000);

function methodOf({ method }) {
  return has(`method.${method}`) && method !== "other" ? t(`method.${method}`) : t("method.other", { name: method });
}

function cost(judgement, ms) {
  const { prompt_tokens: prompt, completion_tokens: completion } = judgement;
  const tokens = prompt + completion ? t("tokens", { prompt: number(prompt), completion: number(completion) }) : t("tokens.none");
  return ms === undefined ? tokens : `${tokens} · ${t("milliseconds", { ms: number(ms, ms < 10 ? 1 : 0) })}`;
}

function texts(item) {
  const group = (key) => ({ tabindex: 0, role: "group", "aria-label": t(key) });
  const block = (key, text) => (text ? section(t(key), textBox(text, { class: "text", ...group(key) })) : null);
  const [first, ...more] = [item.reference].flat();
  const several = () => h("ul", { class: "text accepted-answers" }, [first, ...more].map((text) => h("li", {}, textBox(text, {}, { as: "span" }))));
  return h("div", { class: "texts" }, [
    block("question", item.question),
    block("context", item.context),
    more.length ? section(t("reference"), several()) : block("reference", first),
  ]);
}

const section = (title, ...content) => h("section", {}, h("h3", {}, title), ...content);

function passage(item, judgement) {
  const quote = judgement.key_sentence ?? "";
  const at = quote ? (spanOf(judgement, item.response) ?? find(quote, item.response)) : null;
  const properties = { class: "text response", tabindex: 0, role: "group", "aria-label": t("passage.plain") };
  const parts = [item.response ? textBox(item.response, properties, { ...highlights(at, item.response, judgement), drawn: toMark }) : h("div", properties, h("span", { class: "quiet" }, t("passage.empty")))];
  if (quote && !at) parts.unshift(h("p", { class: "note" }, t("passage.absent"), " ", h("q", {}, textBox(quote.trim(), {}, { as: "span" }))));
  if (at && !at.exact) parts.push(h("p", { class: "note" }, t("passage.loose")));
  if (!quote && judgement.verdict && judgement.verdict !== "invalid") parts.push(h("p", { class: "note" }, t("passage.nothing")));
  return section(t(at ? "passage" : "passage.plain"), ...parts);
}

/** The ranges of the key sentence, and of the answer where it contains it and more. */
function highlights(at, response, { answer }) {
  if (!at) return {};
  const sentence = response.slice(at.start, at.end);
  const inside = answer && answer.length < sentence.length ? sentence.lastIndexOf(answer) : -1;
  const start = at.start + inside;
  return { mark: [at.start, at.end], strong: inside < 0 ? null : [start, start + answer.length] };
}

/** Show the marked sentence, scrolling its own box and nothing else. */
export function reveal(root) {
  for (const box of root.querySelectorAll(".response")) toMark(box);
}

function toMark(box) {
  const mark = box.querySelector("mark");
  if (mark) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
}

function chain(judgement) {
  if (!judgement.chain) return null;
  const raw = judgement.outcome === "unparsed";
  const withheldTag = (line) => !raw && [null, "invalid"].includes(judgement.verdict) && TAG.test(line); // nothing is compared: its line would read as a verdict
  const lines = judgement.chain.split("\n").filter((line) => line.trim() && !withheldTag(line));
  const parts = lines.map((line, index) => chainLine(line, raw ? "" : role(line, index, lines.length)));
  return section(t(raw ? "chain.raw" : "chain"), h("ol", { class: "chain" }, parts));
}

function role(line, index, count) {
  if ([0, count - 1].includes(index) && TAG.test(line)) return "tag";
  if ([KEY, ALSO, NO_KEY].some((start) => line.startsWith(start))) return "key";
  if (line.startsWith(WHY)) return "why";
  return line.startsWith(GLOSS) ? "gloss" : "compare";
}

function chainLine(line, kind) {
  const label = kind ? h("span", { class: "role" }, t(`chain.${kind}`)) : null;
  const lead = Object.keys(LEADS).find((start) => kind && line.startsWith(start)) ?? "";
  const tag = kind === "tag" ? TAG.exec(line) : null;
  const rest = line.slice(lead.length, tag ? tag.index : undefined);
  const content = [LEADS[lead] ? h("span", { class: "lead" }, t(LEADS[lead])) : null, kind ? textBox(said(rest), {}, { as: "span" }) : rest, tag ? h("b", { class: "tag" }, t(`chain.${tag[1]}`)) : null];
  return h("li", { class: kind ? "part" : "raw" }, label, h("span", { class: "line" }, content));
}

/** A line of a chain in the language of the page; as it is where it has other words. */
function said(line) {
  if (line === NO_KEY) return t("chain.says.none");
  const { reference, type, answer } = COMPARES.exec(line)?.groups ?? {};
  const key = `type.${type?.replaceAll(" ", "_")}`;
  return has(key) ? t("chain.says.compare", { reference, type: t(key), answer: answer === "none" ? t("answer.none") : answer }) : line;
}

/** For programmers: the code of the reason, the cost, and the same request. */
function technical(item, judgement, { ms } = {}) {
  const told = judgement ? h("p", {}, h("code", {}, judgement.reason), ` ${cost(judgement, ms)}`) : null;
  return h("details", { class: "curl" }, h("summary", {}, t("technical")), told, commandBox(t("curl"), curl(item)));
}
