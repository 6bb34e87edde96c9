import { isAbsolute, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Document } from "../file/document.ts";
import { readText } from "../file/file.ts";
import { findServers } from "../file/source.ts";
import { fillEntry } from "./entry-variables.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { Variables } from "../file/substitution.ts";

/** The contents of a file of `NAME=value` lines, or why it cannot be used. */
export type EnvFile =
  | { readonly values: Readonly<Record<string, string>>; readonly problem?: undefined }
  | { readonly problem: string; readonly values?: undefined };

/** By absolute path. */
export type EnvFiles = ReadonlyMap<string, EnvFile>;

export interface EnvFileSource {
  readonly document: Document;
  /** Where relative paths start. */
  readonly directory: string;
  readonly variables: Variables;
  readonly predefined: Variables;
}

/**
 * Reads every `envFile` that the servers of a configuration name. Never throws: a problem with a file only affects
 * the servers that name it.
 */
export async function readEnvFiles(source: EnvFileSource): Promise<EnvFiles> {
  const paths = [...new Set(await slices.run(findingEnvFiles(source)))];
  return new Map(await Promise.all(paths.map(async (path) => [path, await readEnvFile(path)] as const)));
}

/**
 * The absolute path of the `envFile` of an entry. Undefined where it has none, or where a variable in its path is
 * missing. The entry's own `env` counts there, but not what the file itself says.
 */
export function envFilePath(entry: unknown, source: Omit<EnvFileSource, "document">): string | undefined {
  if (!isJsonObject(entry) || typeof entry["envFile"] !== "string" || entry["envFile"] === "") return undefined;
  const { env, envFile } = entry;
  const path = (fillEntry({ env, envFile }, source).value as { readonly envFile: string }).envFile;
  if (path.includes("\0") || path.includes("${")) return undefined;
  return isAbsolute(path) ? path : resolve(source.directory, path);
}

function* findingEnvFiles({ document, ...source }: EnvFileSource): Generator<undefined, readonly string[]> {
  const paths: string[] = [];
  try {
    for (const { path } of findServers(document)) {
      const found = envFilePath(document.value(path), source);
      if (found !== undefined) paths.push(found);
      yield;
    }
  } catch {
    // The problem is reported when the configuration is built.
    return [];
  }
  return paths;
}

/** A hundred variables take 10 KiB, a few certificates 100 KiB. */
const envFileBytes = 1024 * 1024;
/** Node's parser moves the rest of the text at each line: half a million lines take it three seconds. */
const mostLines = 10_000;

async function readEnvFile(path: string): Promise<EnvFile> {
  try {
    return parseEnvFile(await readText(path, envFileBytes));
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/**
 * Node's own parser silently skips lines that it does not understand, and may lose the lines after them. Such lines
 * are found beforehand.
 */
export function parseEnvFile(text: string): EnvFile {
  if (text.includes("\0")) return { problem: "has a NUL character" };
  if (hasManyLines(text)) return { problem: `has more than ${mostLines} lines` };
  const source = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const wrong = firstWrongLine(source.split("\n"));
  if (wrong !== undefined) return { problem: `line ${wrong} is not NAME=value` };
  return { values: { ...parseEnv(source) } as Record<string, string> };
}

function hasManyLines(text: string): boolean {
  let end = -1;
  for (let lines = 1; lines <= mostLines; lines += 1) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return false;
  }
  return true;
}

/** The number of the first wrong line, counted from 1. A value in quotes may continue over several lines. */
function firstWrongLine(lines: readonly string[]): number | undefined {
  let quote: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (quote !== undefined) {
      if (line.includes(quote)) quote = undefined;
      continue;
    }
    if (/^\s*(#.*)?$/.test(line)) continue;
    const value = /^\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*(.*)$/.exec(line)?.[1];
    if (value === undefined) return index + 1;
    const first = value[0] ?? "";
    const isOpen = `"'\``.includes(first) && first !== "" && !value.slice(1).includes(first);
    if (isOpen && lines.slice(index + 1).some((later) => later.includes(first))) quote = first;
  }
  return undefined;
}
