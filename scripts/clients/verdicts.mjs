// What a run of a client comes to, in the words of the table. Everything is read from what its model read.

import { steadyText } from "./transcript.mjs";

/** What a cell of the table has room for. */
const longestCell = 160;

/** @typedef {import("./observe-client.mjs").Observation} Observation */

/**
 * @param {Observation} run
 * @returns {string[]} problems
 */
export function notOffered({ offered, behind }) {
  const how = behind.length === 0 ? "" : `; its model can only reach them with ${behind.join(", ")}`;
  return offered.length === 0 ? [`by default, none of our tools was offered to its model${how}`] : [];
}

/**
 * @param {Observation} run
 * @param {string} expected a part of the result
 * @returns {string | null} "yes", or what came back instead. Null where nothing was called
 */
export function whetherCalled({ offered, seen: { results } }, expected) {
  const came = results.get("execute") ?? results.get("discover");
  if (results.get("execute")?.includes(expected)) return "yes";
  return came === undefined || offered.length === 0 ? null : shorten(came);
}

/**
 * Whether a call of `waitMs` arrived; otherwise after how many seconds it was given up, and what the model read.
 * @param {Observation} run
 * @param {number} waitMs
 */
export function howLong({ seen: { made, results } }, waitMs) {
  const step = made.find((one) => one.step === "wait");
  if (step === undefined) return null;
  const came = results.get("wait");
  const seconds = waitMs / 1_000;
  if (came !== undefined && new RegExp(`"waitedMs\\\\*":${waitMs}\\b`).test(came)) return { seconds, arrived: true };
  const lostAfter = step.backMs === undefined ? null : Math.round((step.backMs - step.atMs) / 1_000);
  return { seconds, arrived: false, lostAfter, said: came === undefined ? "nothing came back" : shorten(came) };
}

/** @param {Observation} run */
export function howAsked({ canBeAsked, seen: { results } }) {
  if (!canBeAsked) return "not declared";
  const came = results.get("ask");
  const [, action] = /"action\\*":\s*\\*"(\w+)/.exec(came ?? "") ?? [];
  return { accept: "answered", decline: "declined", cancel: "cancelled" }[action] ?? shorten(came ?? "no result");
}

/**
 * How many characters of the long text its model saw, and whether it was told how to read the rest.
 * @param {Observation} run
 * @param {{ lines: number, lineLength: number }} log
 */
export function howMuch({ seen: { results } }, log) {
  const came = results.get("large");
  if (came === undefined) return null;
  const lines = new Set(came.match(/line \d{4}: /g));
  const isTold = came.includes("toolyard://result/");
  return { characters: lines.size * log.lineLength, of: log.lines * log.lineLength, isTold };
}

/** On one line, such that it can be shown as code: the beginning and the end, where clients say why. */
function shorten(text) {
  const plain = text.replace(/^Wall time: [\d.]+ seconds\s*(?:Output:)?/, "");
  const line = steadyText(plain)
    .replaceAll(/[\s\p{Cc}\p{Bidi_Control}]+/gu, " ")
    .replaceAll("`", "'")
    .trim();
  if (line.length <= longestCell) return line;
  const half = longestCell / 2;
  return `${line.slice(0, half).toWellFormed()}…${line.slice(-half).toWellFormed()}`;
}
