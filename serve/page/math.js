// Texts with formulas: LaTeX as MathML where it can be read, as it is written everywhere else.

import { h } from "./dom.js";
import { t } from "./language.js";

const LONGEST_TEXT = 100_000; // characters of a text in which formulas are sought
const LONGEST = 2000; // characters of a formula
const MOST = 400; // formulas of a text
const SETTINGS = { throwOnError: true, trust: false, strict: false, maxExpand: 500, maxSize: [10, 100] };

const MARKED = new RegExp([
  /\$\$(?<displayed>[^$]{1,2000})\$\$/,
  /\\\[(?<bracketed>[^]{1,2000}?)\\\]/,
  /(?<environment>\\begin\{(?<name>equation|align|aligned|gather|cases|array|[pbvBV]?matrix)(?<star>\*?)\}[^]{1,2000}?\\end\{\k<name>\k<star>\})/,
  /\\\((?<inline>[^]{1,2000}?)\\\)/,
  // A dollar sign before a blank or a digit after one: an amount of money.
  /(?<![\\$])\$(?![\s$])(?<dollars>(?:\\.|[^$\\]){1,2000}?)(?<![\s\\])\$(?![\d$])/,
  /(?<box>\\boxed\s*\{)/,
].map(({ source }) => source).join("|"), "g");
const BARE = /^[^\p{Script=Han}]*\\[a-zA-Z]{2,}[^\p{Script=Han}]*$/u;
const PROSE = /[a-z]{2,} [a-z]{2,}/i; // two words in a row, outside of \text{...}

let library = null;

/** The parts of `text`, in order: `{start, end}`, and `tex` and `display` for a formula. */
export function parts(text) {
  const formulas = isBare(text) ? [{ start: 0, end: text.length, tex: text.trim(), display: false }] : marked(text);
  const found = [];
  let at = 0;
  for (const formula of formulas) {
    if (formula.start > at) found.push({ start: at, end: formula.start });
    found.push(formula);
    at = formula.end;
  }
  if (at < text.length) found.push({ start: at, end: text.length });
  return found;
}

/** Whether a text is a formula without marks, such as a reference "\frac{1}{2}". */
function isBare(text) {
  if (text.length > LONGEST || /\$|\\[[(]|\\begin|\n\s*\n/.test(text)) return false;
  return BARE.test(text) && !PROSE.test(text.replace(/\\(text|mathrm|operatorname)\s*\{[^{}]*\}/g, ""));
}

function marked(text) {
  if (text.length > LONGEST_TEXT) return [];
  const found = [];
  MARKED.lastIndex = 0;
  for (let match; found.length < MOST && (match = MARKED.exec(text)); ) {
    const { displayed, bracketed, environment, inline, dollars, box } = match.groups;
    if (box) MARKED.lastIndex = closing(text, MARKED.lastIndex);
    const [start, end] = [match.index, MARKED.lastIndex];
    const tex = box ? text.slice(start, end) : (displayed ?? bracketed ?? environment ?? inline ?? dollars);
    if (!/\n\s*\n/.test(tex)) found.push({ start, end, tex: tex.trim(), display: Boolean(displayed ?? bracketed ?? environment) });
  }
  return found;
}

/** The place behind the brace that closes an open one; the place itself where none does. */
function closing(text, from) {
  let depth = 1;
  for (let at = from; at < Math.min(text.length, from + LONGEST); at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") depth += 1;
    else if (text[at] === "}" && --depth === 0) return at + 1;
  }
  return from;
}

/**
 * A box with `text` and, where it has formulas, a button that shows its source instead.
 *
 * `mark` and `strong` are ranges `[start, end)` to highlight; in the rendered text they are extended
 * to whole formulas. `properties` are those of the box; `drawn` is called with it when it changes. A
 * box inside a line, `as` a span, has no button.
 */
export function textBox(text, properties = {}, { mark = null, strong = null, drawn = () => {}, as = "div" } = {}) {
  const box = h(as, properties, content(text, [{ start: 0, end: text.length }], mark, strong));
  const found = parts(text).map((part) => ({ ...part, display: part.display && as === "div" }));
  if (!found.some(({ tex }) => tex)) return box;
  let rendered = true;
  const button = h("button", { type: "button", class: "small source", "aria-pressed": "false" }, t("math.source"));
  const draw = async () => {
    const kept = rendered ? await rendering(found) : [{ start: 0, end: text.length }];
    box.replaceChildren(...content(text, kept, mark, strong));
    drawn(box);
  };
  button.addEventListener("click", () => {
    rendered = !rendered;
    button.setAttribute("aria-pressed", String(!rendered));
    draw();
  });
  draw();
  return as === "div" ? h("div", { class: "with-source" }, box, button) : box;
}

/** The parts with the element of each formula that the library can read. */
async function rendering(found) {
  library ??= import("./vendor/temml.min.js");
  const { default: temml } = await library;
  return found.map((part) => (part.tex ? { ...part, math: formula(temml, part) } : part));
}

function formula(temml, { tex, display }) {
  const element = h("span", { class: "formula" });
  try {
    temml.render(tex, element, { ...SETTINGS, displayMode: display });
  } catch {
    return null; // not LaTeX, or more of it than is allowed: the text is shown as it is written
  }
  return element;
}

/** The nodes of a text: runs inside `mark` in one <mark>, those inside `strong` in a <b>. */
function content(text, kept, mark, strong) {
  const pieces = kept.flatMap((part) => (part.math ? [part] : cut(part, [mark, strong])));
  const inside = (piece, range) => range !== null && piece.start < range[1] && piece.end > range[0];
  const nodes = [];
  let open = null;
  for (const [index, piece] of pieces.entries()) {
    const node = piece.math ?? withoutBreaks(text.slice(piece.start, piece.end), pieces[index - 1], pieces[index + 1]);
    if (!inside(piece, mark)) {
      open = null;
      nodes.push(node);
      continue;
    }
    if (!open) nodes.push((open = h("mark")));
    open.append(inside(piece, strong) ? h("b", {}, node) : node);
  }
  return nodes;
}

/** Text beside a displayed formula, which has a line of its own, without the line break between them. */
function withoutBreaks(text, before, after) {
  const own = (piece) => piece?.math && piece.display;
  const begin = own(before) ? text.replace(/^[ \t]*\n/, "") : text;
  return own(after) ? begin.replace(/\n[ \t]*$/, "") : begin;
}

/** A part of plain text, cut where a range begins or ends. */
function cut({ start, end }, ranges) {
  const places = ranges.filter(Boolean).flat().filter((place) => place > start && place < end);
  const bounds = [...new Set([start, ...places, end])].sort((a, b) => a - b);
  return bounds.slice(1).map((stop, index) => ({ start: bounds[index], end: stop }));
}
