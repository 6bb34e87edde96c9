import { escapeHidden } from "../../catalog/exposure/text/visible-text.ts";
import { isJsonObject, parseJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { shorten } from "../../kernel/text/plain-text.ts";
import { countText } from "../../kernel/text/number-text.ts";
import type { GrantKind } from "../../store/approval-rows.ts";

/** A person's answer in the client. Undefined: it is no person's. */
export type ClientAnswer = GrantKind | "no" | undefined;

/** What a person is asked about. */
export interface Asked {
  readonly server: string;
  /** The server's own name of the tool: nothing else that it says of itself is shown. */
  readonly tool: string;
  readonly effect: string;
  readonly because: string;
  /** The arguments, without known secrets. */
  readonly given: unknown;
  readonly client: string;
  /** The page on which all of it can be seen. */
  readonly page: string;
  readonly kinds: readonly GrantKind[];
}

const titles: Readonly<Record<GrantKind | "no", string>> = {
  no: "No",
  once: "Yes, this call",
  session: "Yes, for this session",
  always: "Always",
};

/** What an effect does, as the sentence that follows the question. */
const doing: Readonly<Record<string, string>> = {
  destroy: "It deletes or undoes something",
  send: "It sends something",
  run: "It runs code",
  write: "It changes something",
  read: "It reads something",
  unknown: "It is not known what it does",
};

const longestValue = 200;
const longestAll = 1_500;

/**
 * The question as text. Names and values are those of the call on one line each, with hidden characters as escapes, so
 * that nothing in them can look like the question's own words.
 */
export function questionText(asked: Asked): string {
  const name = `${shownName(asked.server)} · ${shownName(asked.tool)}`;
  const lines = [
    `Allow ${name}? ${doing[asked.effect] ?? doing["unknown"]} (${asked.because}).`,
    ...argumentLines(asked),
  ];
  return [...lines, `Asked by ${shownName(asked.client)}.`].join("\n");
}

function argumentLines({ given, page }: Asked): readonly string[] {
  const members = isJsonObject(given)
    ? Object.entries(given)
    : given === undefined
      ? []
      : [["arguments", given] as const];
  const lines: string[] = [];
  let length = 0;
  for (const [at, [key, value]] of members.entries()) {
    const line = `  ${shownName(key)}: ${shorten(shown(value), longestValue)}`;
    length += line.length;
    if (length > longestAll) {
      const left = members.length - at;
      return [...lines, `  ${countText(left)} more: ${page}`];
    }
    lines.push(line);
  }
  return lines;
}

/** On one line, as JSON, with everything that cannot be seen, or changes the order of what can, as an escape. */
function shown(value: unknown): string {
  return escapeHidden(JSON.stringify(value) ?? "");
}

/** In quotes, unless it could be nothing but a name. */
function shownName(name: string): string {
  const short = shorten(name, longestName);
  return /^[\w.:/-]+$/.test(short) ? short : shown(short);
}

const longestName = 100;

/** The params of `elicitation/create`: one required choice, with no as its default. An empty form is never sent. */
export function questionParams(asked: Asked): JsonObject {
  const values = ["no", ...asked.kinds] as const;
  return {
    mode: "form",
    message: questionText(asked),
    requestedSchema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          enum: values,
          enumNames: values.map((value) => titles[value]),
          default: "no",
        },
      },
      required: ["decision"],
    },
  };
}

/** Reads a client's answer. A choice that was offered is a yes; to decline is a no, and the rest is no person's. */
export function readAnswer(result: JsonBytes, kinds: readonly GrantKind[]): ClientAnswer {
  if (result.length > longestAnswer) return undefined;
  const { action, content } = parseJsonObject(result) ?? {};
  if (action === "decline") return "no";
  if (action !== "accept" || !isJsonObject(content)) return undefined;
  const { decision } = content;
  if (decision === "no") return "no";
  return kinds.find((kind) => kind === decision);
}

const longestAnswer = 10_000;

/** What a person is shown of arguments, and whether that is not all of it. */
export interface ReviewedArguments {
  readonly args: string;
  readonly isCut: boolean;
}

/** Characters of all arguments of one call that are kept: a few pages. */
const longestReviewed = 16_384;
/** In larger arguments, secrets are not looked for in long texts: of these their length alone is shown. */
const mostRedacted = 262_144;

/**
 * Arguments as a person reviews them: without secrets, every member in sight, long texts and lists cut. `redact` takes
 * secrets out of JSON.
 */
export function reviewArguments(value: unknown, redact: (json: string) => string): ReviewedArguments {
  const whole = JSON.stringify(value) ?? "{}";
  const isLarge = whole.length > mostRedacted;
  const clean = redact(isLarge ? JSON.stringify(cutValue(value, { text: 0, items: 1_000 }).value) : whole);
  const parsed = parseJson(clean);
  for (const text of [2_000, 500, 100, 20]) {
    const { value: cut, isCut } = cutValue(parsed, { text, items: text });
    const args = JSON.stringify(cut);
    if (args.length <= longestReviewed) return { args, isCut: isCut || isLarge };
  }
  return { args: JSON.stringify(`${countText(whole.length)} characters in too many parts`), isCut: true };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const deepestReviewed = 40;

/** A copy with texts of so many characters, and lists and objects of so many members, at most. */
function cutValue(whole: unknown, most: { readonly text: number; readonly items: number }) {
  let isCut = false;
  const more = (count: number, what: string): string => {
    isCut = true;
    return `… ${countText(count)} more ${what}`;
  };
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value === "string" && value.length > Math.max(most.text, longestName))
      return `${value.slice(0, most.text)}${more(value.length - most.text, "characters")}`;
    if (typeof value !== "object" || value === null) return value;
    if (depth > deepestReviewed) return more(1, "levels");
    if (Array.isArray(value)) {
      const shownItems = value.slice(0, most.items).map((item) => copy(item, depth + 1));
      return value.length > most.items ? [...shownItems, more(value.length - most.items, "items")] : shownItems;
    }
    const members = Object.entries(value);
    const kept = members
      .slice(0, most.items)
      .map(([key, member]) => [shorten(key, longestName), copy(member, depth + 1)]);
    if (members.length > most.items) kept.push(["…", more(members.length - most.items, "members")]);
    return Object.fromEntries(kept) as unknown;
  };
  return { value: copy(whole, 0), isCut };
}
