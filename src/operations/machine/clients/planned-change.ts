import { applyEdit, applyUndo, planUndo, type PlannedEdit } from "../../../config/clients/connect/client-edit.ts";
import { readClientText } from "../../../config/clients/connect/client-text.ts";
import type { SharedServer } from "../../../config/clients/import/shared-servers.ts";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import { isSecretName } from "../../../config/words/secret-names.ts";
import { createRedaction } from "../../../records/redaction/redaction.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";
import { diffLines } from "../../../kernel/text/text-diff.ts";

/** A change of a client's file that waits for a yes. */
export interface PlannedChange<Facts extends ChangeFacts = ChangeFacts> {
  /** The lines of what changes, file by file, without secrets. Empty where nothing has to be changed. */
  readonly changes: readonly (readonly string[])[];
  /** Writes all of it, or nothing. */
  readonly apply: () => Promise<void>;
  /** What programs are told of it: whether it was done, or only shown. */
  readonly facts: (isDone: boolean) => Facts;
}

/** What became of the file: `taken back` is what was ours in one that was written again since. */
export type ChangeOutcome =
  | "unchanged"
  | "dry-run"
  | "connected"
  | "disconnected"
  | "removed"
  | "restored"
  | "taken back";

/** What programs are told of a change. */
export interface ChangeFacts {
  readonly client: string;
  readonly file: string;
  readonly outcome: ChangeOutcome;
  readonly changed: boolean;
  /** Servers that the client has itself, and the gateway as well; absent where nothing is connected. */
  readonly shared?: readonly SharedServer[];
  /** Lines of the files, without secrets. */
  readonly changes: readonly string[];
  readonly notes: readonly string[];
  /** How the client is made to read its file again. */
  readonly reload: string;
}

/** All or none: a token that the gateway takes and no client has would be left behind. */
export async function applyAll(edits: readonly PlannedEdit[], dataDir: string): Promise<void> {
  const place = { dataDir, clock: systemClock };
  const applied: PlannedEdit[] = [];
  try {
    for (const edit of edits) {
      await applyEdit(edit, place);
      applied.push(edit);
    }
  } catch (error) {
    for (const { opened } of applied.toReversed()) await applyUndo(await planUndo(opened.file.path, place));
    throw error;
  }
}

/** What changes in each of the files. */
export async function changesOf(edits: readonly PlannedEdit[]): Promise<readonly (readonly string[])[]> {
  const all: (readonly string[])[] = [];
  for (const { opened, after } of edits) {
    const { file, text, format, values } = opened;
    const now = await readClientText({ text: after, format, fileName: file.path });
    all.push(toDiffLines({ path: file.path, before: text, after, values: [values, now] }));
  }
  return all;
}

/** A file before and after, with its contents both times. */
interface ShownChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** Values of both, in which secrets are looked for: clients keep them in plain text. */
  readonly values: readonly unknown[];
}

/** A unified diff, for people: without secrets and control characters. Empty where nothing changes. */
export function toDiffLines({ path, before, after, values }: ShownChange): readonly string[] {
  const changes = diffLines(before, after, { around: 3, places: true });
  if (changes.length === 0) return [];
  const secrets = new Set(values.flatMap((value) => secretsIn(value, false)));
  const { text } = createRedaction({ secrets: () => secrets });
  // Redacted as a whole, because some secrets go over several lines.
  const lines = text([`--- ${path}`, `+++ ${path}`, ...changes].join("\n")).split("\n");
  return lines.map((line) => plainLine(line).trimEnd());
}

/** With its indentation, for which `plainText` has no place. */
function plainLine(line: string): string {
  return line.split("\t").map(plainText).join("\t");
}

/** Objects whose values are credentials more often than not. */
const secretObjects: ReadonlySet<string> = new Set(["env", "environment", "headers", "http_headers"]);

function secretsIn(value: unknown, isSecret: boolean): readonly string[] {
  if (typeof value === "string") return isSecret ? [value, value.replace(/^\w+ /, "")] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    secretsIn(member, isSecret || secretObjects.has(key) || (!Array.isArray(value) && isSecretName(key))),
  );
}
