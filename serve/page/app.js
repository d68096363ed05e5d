// The page: which view is shown, the language, the key, the keyboard.

import { keepKey, readKey } from "./api.js";
import { byId, onDrop } from "./dom.js";
import * as file from "./file.js";
import * as label from "./label.js";
import { onLanguage, switchLanguage, t, translate } from "./language.js";
import * as one from "./one.js";
import * as ready from "./ready.js";

const VIEWS = { one, file, label };

const chosen = () => (Object.hasOwn(VIEWS, location.hash.slice(1)) ? location.hash.slice(1) : "one");

function showView() {
  for (const name of Object.keys(VIEWS)) {
    byId(name).hidden = name !== chosen();
    const link = byId(`to-${name}`);
    if (name === chosen()) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  byId("key-box").open = false;
  scrollTo(0, 0);
}

/** A dropped file holds answers to judge; in the view of labels it may be a sheet. */
function dropped(opened) {
  if (chosen() === "label") return label.open(opened);
  location.hash = "file";
  return file.open(opened);
}

let judge = "";

/** Ask for the name of the server's judge, which it may not have, and for its setting `undecided`. */
async function nameJudge() {
  const reply = await fetch(new URL("health", document.baseURI)).catch(() => null);
  const said = reply?.ok ? await reply.json().catch(() => null) : null;
  one.showUndecided(said?.undecided);
  judge = [said?.judge, said?.fingerprint].filter((part) => typeof part === "string").join(" · ");
  showJudge();
}

const showJudge = () => (byId("judge-name").textContent = judge ? t("footer", { judge }) : "");

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
label.start((answers) => {
  location.hash = "file";
  return file.open(answers);
});
showView();
ready.start(nameJudge);
onLanguage(showJudge);
onDrop(document.querySelectorAll(".drop"), dropped);
addEventListener("hashchange", showView);
addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  VIEWS[chosen()].submit();
});
