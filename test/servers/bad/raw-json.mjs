// Cuts a value out of JSON text without parsing it, so that numbers, key order and escapes survive.

/**
 * The text of the member at `path`, or undefined. The text has to be valid JSON; the last of equal keys wins.
 * @param {string} json
 * @param {string[]} path
 */
export function memberText(json, path) {
  let text = json.trim();
  for (const key of path) {
    if (!text.startsWith("{")) return undefined;
    text = findMember(text, key);
    if (text === undefined) return undefined;
  }
  return text;
}

function findMember(object, wanted) {
  let found;
  let at = skipSpace(object, 1);
  while (object[at] === '"') {
    const keyEnd = skipValue(object, at);
    const valueStart = skipSpace(object, skipSpace(object, keyEnd) + 1);
    const valueEnd = skipValue(object, valueStart);
    if (JSON.parse(object.slice(at, keyEnd)) === wanted) found = object.slice(valueStart, valueEnd);
    at = skipSpace(object, valueEnd);
    if (object[at] === ",") at = skipSpace(object, at + 1);
  }
  return found;
}

const space = /[ \t\r\n]/;

function skipSpace(text, at) {
  while (space.test(text[at] ?? "")) at += 1;
  return at;
}

function skipValue(text, at) {
  if (text[at] === '"') return skipString(text, at);
  if (text[at] !== "{" && text[at] !== "[") {
    while (at < text.length && !/[,}\] \t\r\n]/.test(text[at])) at += 1;
    return at;
  }
  let depth = 0;
  do {
    if (text[at] === '"') {
      at = skipString(text, at);
      continue;
    }
    if (text[at] === "{" || text[at] === "[") depth += 1;
    if (text[at] === "}" || text[at] === "]") depth -= 1;
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}

function skipString(text, at) {
  at += 1;
  while (text[at] !== '"' && at < text.length) at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
