// The page: which view is shown, the language, the key, the keyboard.

import { keepKey, readKey } from "./api.js";
import { byId } from "./dom.js";
import * as file from "./file.js";
import { onLanguage, switchLanguage, t, translate } from "./language.js";
import * as one from "./one.js";

const VIEWS = { one, file };

const chosen = () => (location.hash === "#file" ? "file" : "one");

function showView() {
  for (const name of Object.keys(VIEWS)) {
    byId(name).hidden = name !== chosen();
    const link = byId(`to-${name}`);
    if (name === chosen()) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  scrollTo(0, 0);
}

/** Show the name of the server's judge, if it has one. */
async function nameJudge() {
  const reply = await fetch(new URL("health", document.baseURI)).catch(() => null);
  const said = reply?.ok ? await reply.json().catch(() => null) : null;
  const name = [said?.judge, said?.fingerprint].filter((part) => typeof part === "string").join(" · ");
  const write = () => (byId("judge-name").textContent = name ? t("footer", { judge: name }) : "");
  onLanguage(write);
  write();
}

translate();
byId("key").value = readKey();
byId("key").addEventListener("input", (event) => keepKey(event.target.value.trim()));
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  byId("key-box").open = false;
});
byId("language").addEventListener("click", switchLanguage);
one.start();
file.start();
showView();
nameJudge();
addEventListener("hashchange", showView);
addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  VIEWS[chosen()].submit();
});
