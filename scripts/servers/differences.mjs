// What differs between two answers, as lines that a person can read. Pure.

// A server whose every definition differs says so in three lines as well as in three hundred.
const shownLimit = 3;
const textLimit = 160;

/**
 * @typedef {import("./official-client.mjs").Outcome} Outcome
 *
 * What is never the same twice: parts of texts, and members of any name, of which only the type is compared.
 * @typedef {readonly (RegExp | string)[]} Volatile
 */

/**
 * @param {string} where begins each line
 * @param {Outcome} direct
 * @param {Outcome} through
 * @param {{ volatile?: Volatile, allowsMore?: boolean }} [options] allowsMore: the direct client drops members that it
 *   does not know, and what it is compared with does not
 * @returns {string[]}
 */
export function outcomeDifferences(where, direct, through, { volatile = [], allowsMore = false } = {}) {
  if ("failed" in through) return "failed" in direct ? [] : [`${where}: ${short(through.failed)}`];
  if ("failed" in direct) {
    // A model is told of an error of the protocol in a result, too.
    return through.value?.isError === true ? [] : [`${where}: fails directly only (${short(direct.failed)})`];
  }
  const found = [];
  const [a, b] = [direct.value, through.value].map((value) => steady(value, volatile));
  findDifferences(a, b, { path: "", allowsMore, found });
  return limited(found.map((line) => `${where}${line}`));
}

/**
 * Compares lists whatever their order; items are told apart by `key`.
 * @param {string} where
 * @param {Outcome} direct
 * @param {Outcome} through
 * @param {{ key: string, rename?: (name: string) => string, volatile?: Volatile, allowsMore?: boolean }} options
 *   rename says how the gateway calls what the server calls so
 * @returns {string[]}
 */
export function listDifferences(where, direct, through, { key, rename = (name) => name, ...how }) {
  // A list that a server refuses has nothing in it for the gateway.
  if ("failed" in direct) return [];
  if ("failed" in through) return outcomeDifferences(where, direct, through);
  const byName = new Map(through.value.map((item) => [item[key], item]));
  const found = [];
  for (const item of direct.value) {
    const name = rename(item[key]);
    const other = byName.get(name);
    byName.delete(name);
    if (other === undefined) found.push(`${where}: ${item[key]} is missing`);
    else {
      const renamed = { value: { ...item, [key]: name } };
      found.push(...outcomeDifferences(`${where}: ${item[key]}`, renamed, { value: other }, how));
    }
  }
  for (const name of byName.keys()) found.push(`${where}: ${name} is there only through the gateway`);
  return limited(found);
}

function findDifferences(direct, through, { path, allowsMore, found }) {
  if (Object.is(direct, through)) return;
  if (!isObject(direct) || !isObject(through) || Array.isArray(direct) !== Array.isArray(through)) {
    found.push(`${path}: ${short(direct)} directly, ${short(through)} through the gateway`);
    return;
  }
  const names = new Set([...Object.keys(direct), ...(allowsMore ? [] : Object.keys(through))]);
  for (const name of names)
    findDifferences(direct[name], through[name], { path: `${path}.${name}`, allowsMore, found });
}

function steady(value, volatile) {
  const parts = volatile.filter((one) => one instanceof RegExp);
  return JSON.parse(JSON.stringify(value), (name, member) => {
    if (volatile.includes(name)) return Array.isArray(member) ? "list" : typeof member;
    return typeof member === "string" ? parts.reduce((text, part) => text.replace(part, "~"), member) : member;
  });
}

function limited(lines) {
  const more = lines.length - shownLimit;
  return more > 0 ? [...lines.slice(0, shownLimit), `${lines[0].split(":")[0]}: and ${more} more`] : lines;
}

const isObject = (value) => typeof value === "object" && value !== null;

function short(value) {
  const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")).replaceAll(/\s+/g, " ");
  return text.length > textLimit ? `${text.slice(0, textLimit)}...` : text;
}
