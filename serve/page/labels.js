// A label in its usual forms, as gradegpt.labels reads it.

const WRITTEN = {
  correct: ["correct", "true", "1", "1.0", "yes", "c", "正确", "对"],
  incorrect: ["incorrect", "false", "0", "0.0", "no", "i", "错误", "错"],
  invalid: ["invalid"],
};
const READ = new Map(Object.entries(WRITTEN).flatMap(([verdict, texts]) => texts.map((text) => [text, verdict])));

/** The verdict of a label; null where there is none, undefined for an unknown one. */
export function readLabel(value) {
  if (value === null || value === undefined || value === "") return null;
  return ["string", "boolean", "number"].includes(typeof value) ? READ.get(String(value).trim().toLowerCase()) : undefined;
}
