import * as v from "valibot";
import { approvers, toolEffects, type Approver, type ToolEffect } from "../../kernel/call/tool-effects.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { filledText } from "../file/check.ts";
import { suggestion } from "../file/near-miss.ts";
import { other } from "./setting-row.ts";

/** A rule about calls. It fits where all of its members do; a list fits where one of its patterns or words does. */
export interface PolicyRule {
  /** What people are, each by the most that they are. */
  readonly roles?: readonly string[] | undefined;
  /** Names of servers. */
  readonly servers?: readonly string[] | undefined;
  /** The servers' own names of tools. */
  readonly tools?: readonly string[] | undefined;
  readonly effects?: readonly ToolEffect[] | undefined;
  /** Patterns of values, by the path of an argument. */
  readonly when?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly then: "deny" | "ask" | "allow";
  /** Who says yes where it asks. */
  readonly approver?: Approver | undefined;
}

/** What somebody is, from much to little: a rule fits people by the most that they are. */
export const rankedRoles = ["admin", "team-owner", "team-admin", "member"] as const;

/** Each call is compared with all of them, and so is each tool that a list shows. */
const mostRules = 200;
const mostPatterns = 100;
/** As long as a path of a file may reasonably be. */
const longestPattern = 1_000;
const mostPaths = 10;

const effect = v.picklist(toolEffects, `expected one of ${toolEffects.join(", ")}`);
const pattern = v.pipe(filledText, v.maxLength(longestPattern, `expected at most ${longestPattern} characters`));

/** An empty list could fit nothing, or everything. */
function someOf<Item extends v.GenericSchema>(item: Item) {
  return v.pipe(
    v.array(item),
    v.minLength(1, "expected at least one; leave it out where it does not matter"),
    v.maxLength(mostPatterns, `expected at most ${mostPatterns}`),
  );
}

const members = {
  roles: v.optional(someOf(pattern)),
  servers: v.optional(someOf(pattern)),
  tools: v.optional(someOf(pattern)),
  effects: v.optional(someOf(effect)),
  when: v.optional(
    v.pipe(
      v.record(pattern, someOf(pattern)),
      v.check((when) => Object.keys(when).length > 0, "expected at least one path of an argument"),
      v.check((when) => Object.keys(when).length <= mostPaths, `expected at most ${mostPaths} paths`),
    ),
  ),
  then: v.picklist(["deny", "ask", "allow"]),
  approver: v.optional(v.picklist(approvers)),
};

const rule = v.pipe(
  v.unknown(),
  v.rawCheck(({ dataset, addIssue }) => {
    const { value } = dataset;
    if (!isJsonObject(value)) return;
    if (value["then"] === undefined) addIssue({ message: "expected `then` with `deny`, `ask` or `allow`" });
    for (const key of Object.keys(value))
      if (!Object.hasOwn(members, key))
        addIssue({
          message: `nothing reads this member of a rule${suggestion(key, Object.keys(members))}`,
          path: [{ type: "object", origin: "key", input: value, key, value: value[key] }],
        });
  }),
  v.object(members),
  v.check(
    ({ then, approver }) => approver === undefined || then === "ask",
    "`approver` says who allows a call: expected `then` to be `ask`",
  ),
);

const texts = { type: "array", minItems: 1, maxItems: mostPatterns, items: { type: "string", minLength: 1 } };

/** `toolyard.policy.rules`. */
export const rulesRow = other<readonly PolicyRule[], readonly PolicyRule[]>({
  fallback: Object.freeze([]),
  fallbackText: "none",
  schema: v.pipe(v.array(rule), v.maxLength(mostRules, `expected at most ${mostRules}`)),
  json: {
    type: "array",
    maxItems: mostRules,
    items: {
      type: "object",
      properties: {
        ...{ roles: texts, servers: texts, tools: texts },
        effects: { ...texts, items: { type: "string", enum: toolEffects } },
        when: { type: "object", minProperties: 1, maxProperties: mostPaths, additionalProperties: texts },
        then: { enum: ["deny", "ask", "allow"] },
        approver: { enum: approvers },
      },
      required: ["then"],
      additionalProperties: false,
    },
  },
  type: `list of objects with \`then\`, at most ${mostRules}`,
  about: "rules about calls, of which the strictest that fits counts; see [safety](safety.md#rules)",
  reason: "patterns in the entries of servers say the same for everybody, whatever the arguments are",
  example: [{ servers: ["prod-*"], effects: ["destroy"], then: "ask", approver: "admin" }],
});

export interface ParsedRules {
  readonly rules: readonly PolicyRule[];
}

/** Rules from elsewhere than a file, or the first mistake in them with its place. Never with a value. */
export function parseRules(written: unknown): ParsedRules | { readonly problem: string } {
  const { success, output, issues } = v.safeParse(rulesRow.schema, written, { abortPipeEarly: true });
  if (success) return { rules: output };
  const [issue] = issues;
  const place = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return {
    problem: `rules${place.join("")}: ${issue.kind === "schema" ? `expected ${issue.expected}` : issue.message}`,
  };
}
