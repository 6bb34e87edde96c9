import { isSecretName } from "../../../config/words/secret-names.ts";
import { createRedaction } from "../../../records/redaction/redaction.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";
import { diffLines } from "../../../kernel/text/text-diff.ts";

/** A file before and after, with its contents both times. */
export interface ShownChange {
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
