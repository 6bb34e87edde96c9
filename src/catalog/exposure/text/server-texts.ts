import type { View } from "../../model/view.ts";
import { subjectLimit, subjectsOf } from "../../search/language/subject-words.ts";
import { estimateTokens } from "./token-estimate.ts";

/** What a client and its model are told of the servers behind the four tools, word for word. */
export interface ServerTexts {
  readonly instructions: string;
  /** The description of discover_mcp_tools. */
  readonly findTools: string;
  /** Names and what they are about, in one line: for members of `_meta` that clients search. */
  readonly inShort: string;
}

/**
 * Clients show their models so much of a text before they cut it, or search no further: 160 characters of the
 * instructions (Copilot CLI), 247 (Codex), 120 of a description (opencode).
 */
const openingLength = 150;
/**
 * What the texts may cost by estimate, which is a tenth too low for lists of names: instructions take at most 300
 * tokens, and the four tools 600, with room for a fifth (a test counts them).
 */
const instructionTokens = 270;
/** Names and words of the description, without its sentences. */
const findToolsTokens = 52;
/** In characters: no model reads it. */
const inShortLength = 500;

const doThis = "Find a tool with discover_mcp_tools, call it with execute_mcp_tool.";
const howToFind =
  "One need per query, as a short phrase (verb and object); several needs go in queries. Answers tool_path, " +
  "description and input signature; call with execute_mcp_tool; `more` names other tools, server:name. An empty " +
  "query lists the servers.";
/** What people ask tools to do: searches of clients compare words. */
const verbs = "search, get, list, read, show, create, add, write, send, update, move, delete, run";

/** One server in these texts, and what its tools are about, most telling word first. */
interface Told {
  readonly name: string;
  readonly words: readonly string[];
}

const known = new WeakMap<View, ServerTexts>();
/** By the words of the first server. */
const written = new WeakMap<readonly string[], readonly Written[]>();
/** Different sets of servers that are remembered with the same first one: as many as a large team has roles. */
const writtenLimit = 64;

interface Written {
  readonly servers: readonly Told[];
  readonly texts: ServerTexts;
}

/**
 * The texts for one view. They depend on the names of its servers and on the tools that these are known to have, and on
 * nothing that comes and goes: not on the order of the configuration, nor on which servers are up. Of what servers
 * write, only single words get in (`subject-words.ts`). Equal ones are one object across principals, so that sessions
 * which keep what they were told hold it once.
 */
export function serverTexts(view: View): ServerTexts {
  let texts = known.get(view);
  if (texts === undefined) known.set(view, (texts = sharedTexts(toTold(view))));
  return texts;
}

/** A view is replaced whenever a status changes, which changes nothing here. */
function sharedTexts(servers: readonly Told[]): ServerTexts {
  const [first] = servers;
  if (first === undefined) return ofNoServers;
  const before = written.get(first.words) ?? [];
  const same = before.find((one) => isSame(one.servers, servers));
  if (same !== undefined) return same.texts;
  const texts = writeTexts(servers);
  written.set(first.words, [{ servers, texts }, ...before.slice(0, writtenLimit - 1)]);
  return texts;
}

function isSame(before: readonly Told[], after: readonly Told[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ name, words }, at) => name === after[at]?.name && words === after[at].words)
  );
}

/** A server that was switched off is left out. Every other state may pass, and changes nothing. */
function toTold({ servers }: View): readonly Told[] {
  return servers
    .filter(({ step }) => step !== "enable")
    .map(({ slug, tools }) => ({ name: slug as string, words: subjectsOf(tools) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function writeTexts(servers: readonly Told[]): ServerTexts {
  return Object.freeze({
    instructions: writeInstructions(servers),
    findTools: writeFindTools(servers),
    inShort: writeInShort(servers),
  });
}

const ofNoServers: ServerTexts = Object.freeze({
  instructions: `Toolyard reaches MCP servers. ${doThis}`,
  findTools: `Search the tools of all connected MCP servers. ${howToFind}`,
  inShort: "all connected MCP servers and apps",
});

/** The names, what to do, and a line for each server; names that the beginning has no room for come first of these. */
function writeInstructions(servers: readonly Told[]): string {
  const reached = ": reached through Toolyard. ";
  const { text, count: named } = nameServers(servers, openingLength - reached.length);
  const unnamed = servers.slice(named);
  const rounds = inRounds(servers);
  const write = (count: number): string => {
    const words = new Map<Told, TellingWord[]>();
    for (const one of rounds.slice(0, Math.max(0, count - unnamed.length)))
      words.set(one.server, [...(words.get(one.server) ?? []), one]);
    const lines = servers.flatMap((server) => {
      const own = words.get(server);
      return own === undefined ? [] : [`- ${server.name}: ${listWords(own)}`];
    });
    const others = unnamed.filter((server) => !words.has(server)).map(({ name }) => name);
    const last = others.length === 0 ? [] : [`- ${countRest(others.slice(0, count), others.length)}`];
    return [`${text}${reached}${doThis}`, ...lines, ...last].join("\n");
  };
  return write(mostWithin(instructionTokens, unnamed.length + rounds.length, (count) => estimateTokens(write(count))));
}

function writeFindTools(servers: readonly Told[]): string {
  const find = "Find tools of ";
  const { text } = nameServers(servers, openingLength - find.length);
  const rounds = inRounds(servers);
  const about = (count: number): string => (count === 0 ? "" : ` About: ${listWords(rounds.slice(0, count))}.`);
  const count = mostWithin(findToolsTokens, rounds.length, (words) => estimateTokens(`${text}${about(words)}`));
  return `${find}${text}. ${howToFind}${about(count)} To ${verbs}.`;
}

function writeInShort(servers: readonly Told[]): string {
  const { text } = nameServers(servers, openingLength);
  const rounds = inRounds(servers);
  const about = (count: number): string => (count === 0 ? "" : `: ${listWords(rounds.slice(0, count))}`);
  return `${text}${about(mostWithin(inShortLength, rounds.length, (words) => text.length + about(words).length))}`;
}

/** As many names as there is room for, and how many there are. */
function nameServers(servers: readonly Told[], room: number): { readonly text: string; readonly count: number } {
  const names = servers.map(({ name }) => name);
  let count = names.length;
  while (count > 0 && countRest(names.slice(0, count), names.length).length > room) count -= 1;
  return { text: countRest(names.slice(0, count), names.length), count };
}

function countRest(names: readonly string[], of: number): string {
  const rest = of - names.length;
  if (names.length === 0) return `${of} ${of === 1 ? "server" : "servers"}`;
  return `${names.join(", ")}${rest === 0 ? "" : ` and ${rest} more`}`;
}

interface TellingWord {
  readonly server: Told;
  readonly word: string;
}

/** The first word of every server, then the second of every server, and so on: what room there is, is shared. */
function inRounds(servers: readonly Told[]): readonly TellingWord[] {
  return Array.from({ length: subjectLimit }, (_, round) =>
    servers.flatMap((server) => {
      const word = server.words[round];
      return word === undefined ? [] : [{ server, word }];
    }),
  ).flat();
}

/** In the order of the alphabet, each once: a server cannot make a sentence of its words. */
function listWords(words: readonly TellingWord[]): string {
  return [...new Set(words.map(({ word }) => word))].toSorted().join(", ");
}

/**
 * The most items that cost no more than this. The fewer there are, the less they cost, in nearly even steps: a straight
 * line leads to the number soon, and halving, in turns with it, where the steps are uneven.
 */
function mostWithin(limit: number, items: number, costOf: (count: number) => number): number {
  let above = { count: items, cost: costOf(items) };
  if (above.cost <= limit) return items;
  let fitting = { count: 0, cost: costOf(0) };
  for (let round = 0; above.count - fitting.count > 1; round += 1) {
    const share = round % 2 === 0 ? (limit - fitting.cost) / (above.cost - fitting.cost) : 0.5;
    const guess = fitting.count + Math.floor(share * (above.count - fitting.count));
    const count = Math.min(Math.max(guess, fitting.count + 1), above.count - 1);
    const next = { count, cost: costOf(count) };
    if (next.cost <= limit) fitting = next;
    else above = next;
  }
  return fitting.count;
}
