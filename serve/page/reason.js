// A judgement's reason code in words.

import { has, t, words } from "./language.js";
import REASONS from "./reasons.js";

export const ANSWER_TYPES = [
  "single_choice", "multiple_choice", "true_false", "number", "set", "interval", "expression",
  "equation", "tuple", "multi_part", "multi_answer", "code", "text",
];
const LABELS = { A: "correct", B: "incorrect", C: "invalid", "?": "undecided" };
const WILD = { "*": "(?<any>.*)", "<type>": `(?<type>${ANSWER_TYPES.join("|")})`, "<labels>": "(?<labels>[ABC?](?:,[ABC?])*)" };

const ENTRIES = Object.entries(REASONS).map(([pattern, said]) => [compiled(pattern), said]);

function compiled(pattern) {
  let n = 0;
  const source = pattern.replace(/\*|<type>|<labels>|[^\w<>*]/g, (part) => (part in WILD ? WILD[part].replace("any", () => `any${(n += 1)}`) : `\\${part}`));
  return new RegExp(`^${source}$`, "s");
}

/** The code of a judgement as a sentence; empty where it has none. */
export function inWords({ reason, tolerance }) {
  const code = (reason ?? "").trim();
  for (const [pattern, said] of ENTRIES) {
    const found = pattern.exec(code)?.groups;
    if (found || pattern.test(code)) return words(said, values(found ?? {}, tolerance)).trim();
  }
  return "";
}

/** The judge's own reason for its verdict, or else the code in words. */
export const saidWhy = (judgement) => (judgement.verdict && judgement.why) || inWords(judgement);

function values({ type, labels, any1 = "", any2 = "" }, tolerance) {
  const named = labels?.split(",").map((label) => t(LABELS[label]).toLowerCase());
  return {
    1: any1, 2: any2, tolerance: tolerance ?? "auto", rest: inWords({ reason: any1, tolerance }),
    type: has(`type.${type}`) ? t(`type.${type}`) : "", labels: named?.join(", "),
  };
}
