import { isAbsolute, resolve, delimiter, join } from "node:path";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { accessSync, constants, statSync } from "node:fs";

export interface CommandWords {
  readonly entry: JsonObject;
  /** Whether a text was taken apart. */
  readonly isSplit: boolean;
}

/**
 * An entry whose `command` is a whole command line, with the program alone in it and the rest before its `args`: a list
 * of words, as opencode writes it with `environment` for `env`, or a text such as `npx -y pkg`. A text is split as a
 * shell splits words: with quotes, and without filling anything in; a reference to a variable is never split. It stays
 * whole where a program of that name exists, spaces and all, and where its first word is the path of none. Pure, but
 * for what `isProgram` does. Undefined for an entry to which nothing of this applies.
 */
export function toCommandWords(
  entry: unknown,
  { isProgram, platform }: { readonly isProgram: (command: string) => boolean; readonly platform: NodeJS.Platform },
): CommandWords | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { command } = entry;
  if (Array.isArray(command)) return { entry: withWords(entry, command.map(toText)), isSplit: false };
  if (typeof command !== "string" || !/\s/.test(command.trim().replace(reference, "")) || isProgram(command))
    return undefined;
  const words = splitWords(command, platform === "win32");
  const [program] = words ?? [];
  if (words === undefined || program === undefined || (isPath(program) && !isProgram(program))) return undefined;
  return { entry: withWords(entry, words), isSplit: true };
}

/** Whether there is a file that this command means: a path from `directory`, or a name in PATH. */
export function isProgramFile(
  command: string,
  { directory, env }: { readonly directory: string; readonly env: Readonly<Record<string, string | undefined>> },
): boolean {
  if (command.includes("\0")) return false;
  if (!isPath(command)) return findInPath(command, env) !== undefined;
  return isFile(isAbsolute(command) ? command : resolve(directory, command), env);
}

function isPath(command: string): boolean {
  return /[/\\]/.test(command.replace(reference, ""));
}

const reference = /\$\{[^{}]*\}/g;

function toText(word: unknown): unknown {
  return typeof word === "number" || typeof word === "boolean" ? String(word) : word;
}

/** Whatever is wrong in it, such as `args` that are no list, stays for the check of the entry to tell. */
function withWords(entry: JsonObject, [command, ...words]: readonly unknown[]): JsonObject {
  const { environment, ...others } = entry;
  const args = others["args"] ?? [];
  const isOpenCode = Array.isArray(entry["command"]) && environment !== undefined && others["env"] === undefined;
  return {
    ...others,
    ...(isOpenCode ? { env: environment } : environment === undefined ? {} : { environment }),
    command: command ?? null,
    args: Array.isArray(args) ? [...words, ...(args as readonly unknown[])] : args,
  };
}

/** The words of a line; undefined where a quote is not closed. On Windows, a backslash is a part of a path. */
function splitWords(line: string, isWindows: boolean): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  const pattern = new RegExp(isWindows ? windowsPart : shellPart, "y");
  while (pattern.lastIndex < line.length) {
    const part = pattern.exec(line)?.groups;
    if (part === undefined) return undefined;
    if (part["space"] === undefined) {
      const double = isWindows ? part["double"] : part["double"]?.replace(/\\(["\\$`])/g, "$1");
      word = (word ?? "") + (double ?? part["single"] ?? part["escaped"] ?? part["plain"] ?? "");
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

const windowsPart = /(?<space>\s+)|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<plain>\$\{[^{}]*\}|[^\s"'])/;
const shellPart =
  /(?<space>\s+)|"(?<double>(?:[^"\\]|\\[^])*)"|'(?<single>[^']*)'|\\(?<escaped>[^])|(?<plain>\$\{[^{}]*\}|[^\s"'\\])/;

/** Where a bare command would be found; on Windows also with the usual endings. Undefined when nowhere. */
export function findInPath(command: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders
    .flatMap((folder) => endingsOf(env).map((ending) => join(folder, command + ending)))
    .find((path) => isExecutable(path));
}

/** Whether there is a file at this path; on Windows also with the usual endings of programs. */
function isFile(path: string, env: Readonly<Record<string, string | undefined>>): boolean {
  return endingsOf(env).some((ending) => {
    try {
      return statSync(path + ending).isFile();
    } catch {
      return false;
    }
  });
}

function endingsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return process.platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";")] : [""];
}

/** Whether it is a file that may be run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
