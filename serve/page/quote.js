// The position of the judge's key sentence in the response.

/** The span that a judgement states, `{start, end, exact}`; null where it states none of this text. */
export function spanOf({ span }, text) {
  if (!span) return null;
  const [start, end] = span.map((place) => units(text, place));
  return start < end && end <= text.length ? { start, end, exact: true } : null;
}

/** The place in 16-bit units of a place in characters, which the server counts. */
export function units(text, characters) {
  let at = 0;
  for (let n = 0; n < characters && at <= text.length; n += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

/**
 * The last place of `quote` in `text` as `{start, end, exact}`, or null.
 *
 * The last, because the final answer of a response is at its end. A quote that differs in blanks is
 * found too, and so is one in which the judge saw "‹" for a "<" that could have closed its frame.
 */
export function find(quote, text) {
  const wanted = quote.trim();
  if (!wanted) return null;
  const start = text.lastIndexOf(wanted);
  if (start >= 0) return { start, end: start + wanted.length, exact: true };
  const [letters, places] = squeezed(text);
  const [sought] = squeezed(wanted);
  const at = sought ? letters.lastIndexOf(sought) : -1;
  return at < 0 ? null : { start: places[at], end: places[at + sought.length - 1] + 1, exact: false };
}

/** The text without blanks, with the original position of each character. */
function squeezed(text) {
  const places = new Int32Array(text.length);
  const kept = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (/\s/.test(char)) continue;
    places[kept.length] = at;
    kept.push(char === "‹" ? "<" : char);
  }
  return [kept.join(""), places];
}
