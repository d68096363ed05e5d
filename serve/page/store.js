// What the browser remembers; without storage everything lasts as long as the page.

/** The text under `key`; null where there is none. */
export function recall(key, storage = "localStorage") {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Keep a text, or with null forget it; false where the browser does not keep it. */
export function keep(key, text, storage = "localStorage") {
  try {
    if (text === null) window[storage].removeItem(key);
    else window[storage].setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
