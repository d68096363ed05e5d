// The page in the browser's language: it is written in English, and its own words, not the data, are replaced.

const inChinese = navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag))?.toLowerCase().startsWith("zh");
const NOT_OURS = "script, style, code, pre, kbd, h1, .judge";

/** In a pattern `*` is any text, and `{1}` the first of them. */
function compiled(pattern) {
  const source = pattern.split("*").map((part) => part.replace(/[^\w ]/g, "\\$&")).join("(.*?)");
  return new RegExp(`^${source}$`, "s");
}

const exact = inChinese ? JSON.parse(document.getElementById("data").textContent).zh : {};
const patterns = Object.entries(exact).filter(([text]) => text.includes("*")).map(([text, said]) => [compiled(text), said]);

/** A text of the page in its language; as it is where it has no words. */
function say(text) {
  const key = text in exact ? text : text.replace(/\s+/g, " ").trim();
  if (!inChinese || !key) return text;
  if (key in exact) return exact[key];
  const [pattern, said] = patterns.find(([one]) => one.test(key)) ?? [];
  const found = pattern?.exec(key);
  return found ? said.replace(/\{(\d)\}/g, (_, n) => say(found[n])) : text;
}

/** Replace the texts of the page as it was written. */
function translate() {
  document.documentElement.lang = "zh-CN";
  for (const option of document.querySelectorAll("option")) option.value = option.value; // which is its text
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest(NOT_OURS)) node.data = node.data.replace(/\S(.*\S)?/s, say);
  }
  for (const name of ["aria-label", "title", "placeholder"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) element.setAttribute(name, say(element.getAttribute(name)));
  }
}

if (inChinese) translate();
