import type { Era } from "../../../kernel/call/call-context.ts";
import type { InstanceStatus } from "../../../kernel/status-words.ts";
import type { NextStep } from "../../../records/server-standing.ts";

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
