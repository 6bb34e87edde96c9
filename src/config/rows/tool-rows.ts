import * as v from "valibot";
import { phraseLengthLimit, phraseLimit } from "../../kernel/call/tool-phrases.ts";
import { filledText } from "../file/check.ts";
import { other } from "./setting-row.ts";

const phrase = v.pipe(filledText, v.maxLength(phraseLengthLimit, `expected at most ${phraseLengthLimit} characters`));
const phraseList = v.pipe(
  v.array(phrase),
  v.maxLength(phraseLimit, `expected at most ${phraseLimit} phrases per tool`),
);

/** `tools.phrases` of an entry. */
export const toolPhrases = other({
  fallback: {},
  schema: v.record(v.string(), phraseList),
  json: {
    type: "object",
    additionalProperties: {
      type: "array",
      items: { type: "string", minLength: 1, maxLength: phraseLengthLimit },
      maxItems: phraseLimit,
    },
  },
  type: `object of lists of texts, at most ${phraseLimit} of ${phraseLengthLimit} characters per tool`,
  about:
    "what people say when they need a tool, by the server's own names; in place of `toolyard/phrases` of the " +
    "server, which an empty list silences",
  reason: "search finds the tool by these words too; none of them can outweigh what other tools are called",
  example: { create_issue: ["report a bug", "tell the developers that it crashed"] },
});

/** Paths of tools, or those that each person used in most sessions. */
export type PinChoice = readonly string[] | "auto";

/** Each pinned tool is read by the model in every conversation. */
export const mostPins = 10;
/** Names of tools may be a thousand characters long, and those of servers sixty. */
const longestPath = 1_100;
const pathPattern = /^[^:\s]+:[^]+/;

const path = v.pipe(v.string(), v.maxLength(longestPath), v.regex(pathPattern));
const paths = v.pipe(
  v.array(path),
  v.transform((all) => [...new Set(all)]),
  v.maxLength(mostPins),
);

/** What may be pinned, wherever it is said. */
export const pinSchema: v.GenericSchema<unknown, PinChoice> = v.union(
  [v.literal("auto"), paths],
  `expected "auto", or a list of at most ${mostPins} paths of tools such as "github:create_issue"`,
);

/** Undefined for what cannot be pinned. */
export function parsePins(value: unknown): PinChoice | undefined {
  const { success, output } = v.safeParse(pinSchema, value);
  return success ? output : undefined;
}

/** The setting `pin`. */
export const pinRow = other<PinChoice, PinChoice>({
  fallback: [],
  fallbackText: "none",
  schema: pinSchema,
  json: {
    anyOf: [
      { const: "auto" },
      { type: "array", items: { type: "string", pattern: pathPattern.source }, maxItems: mostPins },
    ],
  },
  type: `list of paths of tools, at most ${mostPins}, or \`auto\``,
  about:
    "tools that are in the list of `/mcp` beside the four, for people who chose none in the dashboard; " +
    "with `auto`, those that a person used most",
  reason: "every pinned tool costs its definition in each conversation",
  example: ["github:create_issue"],
});
