// A command for the terminal, with a button that copies it.

import { announce, h } from "./dom.js";
import { t } from "./language.js";

export function commandBox(label, command) {
  const button = h("button", { type: "button", class: "small", onclick: () => copy(command, button) }, t("copy"));
  const box = h("pre", { tabindex: 0, role: "group", "aria-label": label }, h("code", {}, command));
  return h("div", { class: "terminal" }, box, button);
}

/** A word of a shell command, quoted where it needs it. */
export const quoted = (word) => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

async function copy(text, button) {
  const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  button.textContent = t(done ? "copied" : "copy.failed");
  announce(button.textContent);
  if (!done) getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
  setTimeout(() => (button.textContent = t("copy")), 2000);
}
