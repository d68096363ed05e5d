// The page in two languages. The choice is remembered; the browser's language is the default.

import en from "./en.js";
import { keep, recall } from "./store.js";
import zh from "./zh.js";

const WORDS = { en, zh };
const STORE = "gradegpt.language";
const listeners = [];

export let language = remembered() ?? preferred();

function remembered() {
  const found = recall(STORE);
  return found in WORDS ? found : null;
}

function preferred() {
  const first = navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag)) ?? "en";
  return first.slice(0, 2).toLowerCase();
}

/** The words for `key`, with `{name}` filled in from `values`; untrusted values stay plain text. */
export function t(key, values = {}) {
  const found = WORDS[language][key];
  if (found === undefined) throw new Error(`no words for ${key}`);
  return filled(found, values);
}

const filled = (text, values) => text.replace(/\{([=@]?\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));

/** A text that is given in both languages, `[English, Chinese]`, in the one that is shown. */
export const words = ([en, zh], values = {}) => filled(language === "zh" ? zh : en, values);

export const has = (key) => key in WORDS[language];
export const number = (value, digits = 0) =>
  new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
export const fixed = (value, digits) =>
  new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
export const percent = (value, digits = 1) =>
  new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: digits }).format(value);

/** Call `listener` after every change of language. */
export function onLanguage(listener) {
  listeners.push(listener);
}

export function switchLanguage() {
  language = language === "en" ? "zh" : "en";
  keep(STORE, language);
  translate();
  for (const listener of listeners) listener();
}

/** Fill every translatable element below `root`. */
export function translate(root = document) {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  document.documentElement.dataset.ready = "";
  document.title = t("title");
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll("[data-t-label]"))
    element.setAttribute("aria-label", t(element.dataset.tLabel));
  for (const element of root.querySelectorAll("[data-t-placeholder]"))
    element.placeholder = t(element.dataset.tPlaceholder);
}
