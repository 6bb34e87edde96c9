import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ImportedEntry } from "../../../config/clients/connect/client-entry.ts";
import { parseDocument } from "../../../config/file/document.ts";
import { replaceReferences } from "../../../config/file/substitution.ts";
import type { NeededInput } from "../../../config/registry/registry-inputs.ts";
import { isSecretSetting } from "../../../config/words/secret-names.ts";

/** The folder of this package, from dist/cli. */
const root = fileURLToPath(new URL("../..", import.meta.url));

const scope = "@modelcontextprotocol";

/**
 * Three real servers that need no account, and touch nothing of their user's: one to try, files that come with this
 * package, and a memory in the data directory. From a clone they are there already; elsewhere npx fetches them.
 */
export function exampleServers(dataDir: string): readonly (readonly [string, ImportedEntry])[] {
  const start = (name: string, ...args: readonly string[]): ImportedEntry => {
    const file = join(root, "node_modules", scope, name, "dist", "index.js");
    return existsSync(file)
      ? { command: process.execPath, args: [file, ...args] }
      : { command: "npx", args: ["-y", `${scope}/${name}`, ...args] };
  };
  return [
    ["everything", start("server-everything", "stdio")],
    ["files", start("server-filesystem", join(root, "examples", "files"))],
    ["memory", { ...start("server-memory"), env: { MEMORY_FILE_PATH: join(dataDir, "example-memory.jsonl") } }],
  ];
}

/** A server that was tried with this gateway: an entry without anything of anybody's in it. */
export interface TestedServer {
  readonly name: string;
  readonly description: string;
  /** Values that it takes are references to variables, with a default for those who have none. */
  readonly entry: ImportedEntry;
  readonly takes: readonly NeededInput[];
}

/** The servers of `examples/laptop.json`, which comes with this package. */
export async function testedServers(): Promise<readonly TestedServer[]> {
  const file = join(root, "examples", "laptop.json");
  const { mcpServers } = parseDocument(await readFile(file, "utf8"), file).value([]) as WrittenExamples;
  return Object.entries(mcpServers).map(([name, { description, ...entry }]) => ({
    ...{ name, description, entry },
    takes: takenBy(entry),
  }));
}

interface WrittenExamples {
  readonly mcpServers: Readonly<Record<string, ImportedEntry & { readonly description: string }>>;
}

/** Names of files and folders, as variables of servers have them. */
const pathName = /(?:^|_)(?:FILE|FOLDER|DIR|DIRECTORY|PATH)$/;

/** A default that is empty does: one that is not is a placeholder. */
function takenBy(entry: ImportedEntry): readonly NeededInput[] {
  const taken = new Map<string, NeededInput>();
  fillReferences(entry, (name, preset) => {
    const kind = { isSecret: isSecretSetting(name), isFile: pathName.test(name), isRequired: preset !== "" };
    taken.set(name, { name, ...kind, description: "", choices: undefined, placeholder: undefined, preset });
    return undefined;
  });
  return [...taken.values()];
}

/** The entry with values in place of its references; undefined leaves one as it is. */
export function fillReferences(
  entry: ImportedEntry,
  valueOf: (variable: string, preset: string) => string | undefined,
): ImportedEntry {
  const kept = (name: string, fallback: string | undefined): string =>
    `\${${name}${fallback === undefined ? "" : `:-${fallback}`}}`;
  return replaceReferences(entry, {
    valueOf: ({ variable, fallback }) => valueOf(variable, fallback ?? "") ?? kept(variable, fallback),
    onMissing: () => undefined,
  }) as ImportedEntry;
}
