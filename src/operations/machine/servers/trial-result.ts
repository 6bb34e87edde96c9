import type { Era } from "../../../kernel/call/call-context.ts";
import { type InstanceStatus, withReason } from "../../../kernel/status-words.ts";
import type { NextStep } from "../../../records/server-standing.ts";
import { countText } from "../../../kernel/text/number-text.ts";
import { plainText, shorten } from "../../../kernel/text/plain-text.ts";

/** What came of starting a server to try it. */
export interface ServerTrial {
  /** The key as it is in the file. */
  readonly key: string;
  readonly isUsable: boolean;
  readonly status: InstanceStatus;
  /** The status in words for people. */
  readonly word: string;
  /** One sentence that explains the status. */
  readonly reason: string;
  /** The failure's code (docs/errors.md); null where all is well, and where no failure is the reason. */
  readonly code: string | null;
  /** What to do about it, from the cause; null where all is well. */
  readonly hint: string | null;
  readonly next: NextStep | null;
  /** What it calls itself, with its version; null when it was not reached. */
  readonly name: string | null;
  /** What it says of itself: its name, title and version. Null when it was not reached. */
  readonly server: {
    readonly name: string | null;
    readonly title: string | null;
    readonly version: string | null;
  } | null;
  /** The revision of the protocol that it was reached with, and every era that it speaks. */
  readonly revision: string | null;
  readonly eras: readonly Era[];
  readonly offers: {
    readonly tools: number;
    readonly resources: number;
    readonly templates: number;
    readonly prompts: number;
    readonly skills: number;
  } | null;
  /** Those that its rules let through. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly readOnly: boolean }[];
  /** What its tools cost in a flat list. */
  readonly tokens: number;
  /** From its start until it was usable, or was given up. */
  readonly durationMs: number;
  /** The last lines of its stderr. */
  readonly output: readonly string[];
}

const mostTools = 12;
const mostLines = 10;
const lineCharacters = 110;
const nameWidth = 28;

/** What came of a trial, for people: the tools, or why there are none. */
export function toTrialText(trial: ServerTrial): readonly string[] {
  const { key, word, isUsable, tools, tokens, name, output } = trial;
  if (isUsable) {
    const what = name === null || name === "" ? "" : ` as ${plainText(name)}`;
    const count = `${countText(tools.length)} tool${tools.length === 1 ? "" : "s"}`;
    return [
      `${plainText(key)}: it answers${what}, ${count}${tokens === 0 ? "" : `, ${countText(tokens)} tokens`}`,
      ...tools.slice(0, mostTools).map(({ name: tool, description }) => toToolLine(tool, description)),
      ...(tools.length > mostTools ? [`  and ${countText(tools.length - mostTools)} more`] : []),
    ];
  }
  const what = toAdvice(trial);
  const lines = output.filter((line) => line.trim() !== "");
  return [
    `${plainText(key)}: ${withReason(word, shorten(oneLine(trial.reason), 400))}`,
    ...(what === undefined ? [] : [`  ${what}`]),
    ...(lines.length === 0 ? [] : ["  last output:"]),
    ...lines.slice(-mostLines).map((line) => `    ${shorten(plainText(line), lineCharacters)}`),
  ];
}

/** What to do about it. A command that repairs it goes before what the failure says in general. */
export function toAdvice({ status, hint, next, key }: ServerTrial): string | undefined {
  if (status === "requires_reauth") return `Run \`${next?.command ?? `toolyard login ${key}`}\`.`;
  return hint ?? (status === "awaiting_user_config" ? next?.text : undefined);
}

function toToolLine(name: string, description: string): string {
  return `  ${plainText(name).padEnd(nameWidth)} ${shorten(oneLine(description), lineCharacters - nameWidth)}`.trimEnd();
}

function oneLine(text: string): string {
  return plainText(text).replace(/\s+/g, " ").trim();
}
