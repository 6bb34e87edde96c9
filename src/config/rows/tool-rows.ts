import * as v from "valibot";
import { phraseLengthLimit, phraseLimit } from "../../kernel/call/tool-phrases.ts";
import { contentLabels, toolEffects, type ContentLabel, type ToolEffect } from "../../kernel/call/tool-effects.ts";
import { filledText } from "../file/check.ts";
import { rulesRow } from "./rule-rows.ts";
import { choice, number, other } from "./setting-row.ts";

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

const effect = v.picklist(toolEffects, `expected one of ${toolEffects.join(", ")}`);
/** Effects of tools, wherever a list of them is written. */
export const effectListSchema: v.GenericSchema<unknown, readonly ToolEffect[]> = v.array(effect);
const effectJson = { type: "string", enum: toolEffects };

/** `tools.effects` of an entry. */
export const toolEffectsRow = other<Readonly<Record<string, ToolEffect>>, Readonly<Record<string, ToolEffect>>>({
  fallback: {},
  schema: v.record(v.string(), effect),
  json: { type: "object", additionalProperties: effectJson },
  type: `object of ${toolEffects.map((name) => `\`${name}\``).join(", ")}`,
  about: "what tools do, by the server's own names, with `*` as a wildcard; in place of what their names say",
  reason: "a name can say less than the tool does, or more",
  example: { "sync_*": "destroy", render: "read" },
});

/** What calls of some effects wait for, or are refused, once their caller has read something. */
export interface FlowRule {
  readonly after: ContentLabel;
  readonly effects: readonly ToolEffect[];
  readonly then: "ask" | "deny";
}

const label = v.picklist(contentLabels, `expected one of ${contentLabels.join(", ")}`);
const labelJson = { type: "string", enum: contentLabels };
const mostFlows = 100;
const flows = v.pipe(
  v.array(
    v.strictObject({
      after: label,
      effects: v.pipe(v.array(effect), v.nonEmpty("expected at least one effect")),
      then: v.picklist(["ask", "deny"], "expected ask or deny"),
    }),
  ),
  v.maxLength(mostFlows, `expected at most ${mostFlows} rules`),
);

/** `content` of an entry. */
export const contentRow = other<readonly ContentLabel[], readonly ContentLabel[]>({
  fallback: [],
  schema: v.array(label),
  json: { type: "array", items: labelJson },
  type: "list of `untrusted`, `private`",
  about: "texts of strangers, or private data, that may be in what the server returns; `policy.flows` goes by it",
  example: ["untrusted"],
});

/** `toolyard.policy`. */
export const policyRows = {
  ask: other<readonly ToolEffect[], readonly ToolEffect[]>({
    fallback: ["destroy"],
    schema: effectListSchema,
    json: { type: "array", items: effectJson },
    type: `list of ${toolEffects.map((name) => `\`${name}\``).join(", ")}`,
    about: "effects of which each call waits for a person's yes",
    reason: "5 to 9 % of real tools destroy something, and one question in a hundred needs such a tool",
    example: ["destroy", "send"],
  }),
  flows: other<readonly FlowRule[], readonly FlowRule[]>({
    fallback: [],
    schema: flows,
    json: {
      type: "array",
      maxItems: mostFlows,
      items: {
        type: "object",
        properties: {
          after: labelJson,
          effects: { type: "array", items: effectJson, minItems: 1 },
          then: { type: "string", enum: ["ask", "deny"] },
        },
        required: ["after", "effects", "then"],
        additionalProperties: false,
      },
    },
    type: "list of rules with `after`, `effects` and `then`",
    about:
      "calls that ask, or are refused, for 30 minutes after their client has read from a server whose `content` says so",
    reason: "a browser is read at the beginning of nearly every session, and every twentieth call would ask",
    example: [{ after: "untrusted", effects: ["send", "destroy"], then: "ask" }],
  }),
  secrets: choice({
    choices: ["off", "own", "patterns"],
    fallback: undefined,
    fallbackText: "`off`; with `--team`, `own`",
    about:
      "which secrets are stopped on their way: with `own`, values of the configuration in calls of servers that they " +
      "do not belong to (refused), and in their results (replaced); with `patterns`, also texts that look like " +
      "well-known keys (calls ask, results are noted)",
    reason: "somebody who works on a key has to see it; where several people share a gateway, each has keys of others",
  }),
  rules: rulesRow,
};

const definitionModes = ["check", "hold", "note"] as const;

/** `toolyard.definitions`. */
export const definitionRows = {
  changes: choice({
    choices: definitionModes,
    fallback: undefined,
    fallbackText: "`check`; with `--team`, `hold`",
    about:
      "what becomes of tools whose definitions change: `check` holds those back that became worse, `hold` every " +
      "change of meaning and every new tool, `note` none",
    reason: "of 38 releases of real servers 21 changed definitions, and `check` would have held 2 tools back",
  }),
  newServers: choice({
    choices: ["use", "hold"],
    fallback: "use",
    about: "whether tools of a server that was never seen wait for a person",
    reason: "its entry was written by a person",
  }),
};

/** `definitions` of an entry. */
export const definitionsRow = choice({
  choices: definitionModes,
  fallback: undefined,
  fallbackText: "`definitions.changes`",
  about: "what becomes of the server's tools when their definitions change",
  example: "hold",
});

/** `toolyard.approvals`. */
export const approvalRows = {
  validMs: number({
    fallback: 600_000,
    min: 10_000,
    max: 86_400_000,
    about: "milliseconds for which a call that waits for a yes can get one",
    reason: "a person who is told of it by a message needs some minutes",
  }),
  holdMs: number({
    fallback: 20_000,
    min: 0,
    max: 600_000,
    about: "milliseconds that a call itself waits for somebody in the inbox, where its client cannot ask",
    reason: "clients give up after 30 seconds and more",
  }),
  minAnswerMs: number({
    fallback: 400,
    min: 0,
    max: 60_000,
    about: "milliseconds before which an answer of a client is no person's",
    reason: "programs that answer for a person do so in less than ten, keys that were typed ahead in two",
  }),
  sessionMs: number({
    fallback: 28_800_000,
    min: 60_000,
    max: 604_800_000,
    about: "milliseconds for which a yes for the session lasts at most",
    reason: "a working day",
  }),
  waiting: number({
    fallback: 100,
    min: 1,
    max: 10_000,
    about: "calls of one person that wait for a yes; the oldest expires for one more",
    reason: "more than a person reads",
  }),
};

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

export const pinJson = {
  anyOf: [
    { const: "auto" },
    { type: "array", items: { type: "string", pattern: pathPattern.source }, maxItems: mostPins },
  ],
};
export const pinType = `list of paths of tools, at most ${mostPins}, or \`auto\``;

/** The setting `pin`. */
export const pinRow = other<PinChoice, PinChoice>({
  fallback: [],
  fallbackText: "none",
  schema: pinSchema,
  json: pinJson,
  type: pinType,
  about:
    "tools that are in the list of `/mcp` beside the four, for people who chose none in the dashboard; " +
    "with `auto`, those that a person used most",
  reason: "every pinned tool costs its definition in each conversation",
  example: ["github:create_issue"],
});
