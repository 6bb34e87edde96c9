import { plainText } from "../../kernel/text/plain-text.ts";
import { isJsonObject, parseJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { countText } from "../../kernel/text/number-text.ts";
import type { GrantKind } from "../../store/store.ts";

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
  const name = `${shown(asked.server)} · ${shown(asked.tool)}`;
  const lines = [
    `Allow ${name}? ${doing[asked.effect] ?? doing["unknown"]} (${asked.because}).`,
    ...argumentLines(asked),
  ];
  return [...lines, `Asked by ${shown(asked.client)}.`].join("\n");
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
    const line = `  ${shortened(shown(key), 60)}: ${shortened(shown(JSON.stringify(value) ?? ""), longestValue)}`;
    length += line.length;
    if (length > longestAll) {
      const left = members.length - at;
      return [...lines, `  ${countText(left)} more: ${page}`];
    }
    lines.push(line);
  }
  return lines;
}

/** On one line, with everything that cannot be seen, or changes the order of what can, as an escape. */
function shown(text: string): string {
  return plainText(text.slice(0, 2 * longestAll));
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

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
