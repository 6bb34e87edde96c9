import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { openConfigFile } from "../../config/edit/config-edit.ts";
import { findFile, follow } from "../../config/file/file.ts";
import type { FoundConfig, UntrustedConfig } from "../../config/found-config.ts";
import { describeFound } from "../../config/load.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { trustedIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { plainText, shorten } from "../../kernel/text/plain-text.ts";
import { printTable } from "../terminal/table.ts";
import { askYes, canAsk } from "../terminal/yes-or-no.ts";
import { parseDocument, type Document, type Path } from "../../config/file/document.ts";
import { isSecretName } from "../../config/words/secret-names.ts";
import { findServers } from "../../config/file/source.ts";
import { toDiffLines } from "../../operations/machine/clients/planned-change.ts";

/** `toolyard trust [PATH]`: allows a configuration that is found in its folder; lists those, and takes one back. */
export async function trust(context: CommandContext): Promise<number> {
  const { forget } = context.flags;
  if (isOn(context, "list")) return await list(context);
  if (typeof forget === "string") return await takeBack(context, forget);
  const found = await findConfig(context);
  const trusted = trustedIn(context);
  const before = await trusted.find(found.place);
  const isKnown = before?.hash === found.hash;
  const lines = toQuestion(found, before === undefined || isKnown ? undefined : (before.text ?? ""));
  process.stderr.write(`${lines.join("\n")}\n\n`);
  if (!isKnown && canAsk() && !isOn(context, "yes") && !(await askYes("Allow this configuration?", false))) {
    process.stderr.write("Nothing was allowed.\n");
    return 1;
  }
  await trusted.allow(found);
  process.stdout.write(`${plainText(found.place)} is allowed, as it is now.\n`);
  return 0;
}

/** The file that is named, or that commands would find in that folder. */
async function findConfig(context: CommandContext): Promise<FoundConfig> {
  const named = resolve(context.cwd, context.positionals[0] ?? ".");
  const isFolder = (await stat(named).catch(() => undefined))?.isDirectory() === true;
  const file = isFolder ? await findFile(undefined, named, context.homeDirectories) : named;
  const opened = file === undefined ? undefined : await openConfigFile(file);
  if (opened === undefined || opened.mode === undefined || (isFolder && dirname(opened.file) !== named))
    throw new GatewayError("CONFIG_INVALID", `there is no configuration in ${plainText(named)}`, {
      hint: "Name a file, or a folder with a toolyard.json, mcp.json or .mcp.json.",
    });
  return await describeFound(opened, context);
}

async function list(context: CommandContext): Promise<number> {
  const all = await trustedIn(context).list();
  if (isOn(context, "json")) {
    for (const { place, hash, allowedAtMs } of all)
      process.stdout.write(
        `${JSON.stringify({ file: place, hash, allowedAt: new Date(allowedAtMs).toISOString() })}\n`,
      );
    return 0;
  }
  if (all.length === 0) process.stderr.write("No configuration was allowed.\n");
  else
    printTable(
      ["ALLOWED", "FILE"],
      all.map(({ place, allowedAtMs }) => [new Date(allowedAtMs).toISOString().slice(0, 10), plainText(place)]),
    );
  return 0;
}

/** A file, or all files of a folder; they need not exist any more. */
async function takeBack(context: CommandContext, path: string): Promise<number> {
  const trusted = trustedIn(context);
  const named = resolve(context.cwd, path);
  const places = [join(await follow(dirname(named)), basename(named)), await follow(named)];
  const meant = (await trusted.list()).filter(({ place }) => places.includes(place) || places.includes(dirname(place)));
  for (const { place } of meant) {
    await trusted.forget(place);
    process.stdout.write(`${plainText(place)} is not allowed any more. A gateway that runs with it goes on.\n`);
  }
  if (meant.length === 0) process.stderr.write(`toolyard: nothing was allowed in ${plainText(named)}\n`);
  return meant.length === 0 ? 1 : 0;
}

/**
 * Asks the person on the terminal about a configuration that was found, and keeps a yes: for what was shown, and not
 * for what the file may be by now. Resolves to false without a yes, and where there is no terminal.
 */
export async function askTrust(context: CommandContext, { found, before }: UntrustedConfig): Promise<boolean> {
  if (!canAsk()) return false;
  process.stderr.write(`${toQuestion(found, before).join("\n")}\n\n`);
  if (!(await askYes("Use this configuration?", false))) return false;
  await trustedIn(context).allow(found);
  return true;
}

/** Longer lists are cut: they would go unread, and important lines must not scroll away. */
const mostChanges = 40;
const mostValues = 20;
const mostServers = 30;
/** Of one text of the file. */
const shownCharacters = 300;

/** What a person has to know before allowing a file; what it would start comes last, next to the question. */
function toQuestion(found: FoundConfig, before: string | undefined): readonly string[] {
  const document = parseDocument(found.text.trim() === "" ? "{}" : found.text, found.file);
  const servers = findServers(document);
  const values = valuesBeside(
    document,
    servers.map(({ path }) => path),
  );
  const changes = before === undefined || before === "" ? [] : changesOf(found, before);
  return [
    before === undefined
      ? `${plainText(found.file)} was found in this folder, and nothing of it was used yet.`
      : `${plainText(found.file)} has changed since you allowed it${changes.length === 0 ? "." : ":"}`,
    ...limited(changes, mostChanges, "lines that changed"),
    "",
    ...(values.length === 0 ? [] : ["It sets:", ...limited(values, mostValues, "values")]),
    ...(found.envFiles.length === 0
      ? []
      : ["It reads files:", ...limited(found.envFiles.map(toLine), mostValues, "files")]),
    ...(found.variables.length === 0 ? [] : [`It reads variables of yours: ${shown(found.variables.join(", "))}`]),
    servers.length === 0 ? "It starts nothing, and reaches nothing." : "It starts or reaches:",
    ...limited(
      servers.map(({ key, path }) =>
        [`  ${shown(key)}: ${aimOf(document, path)}`, ...(found.loosened.get(key) ?? [])].join("\n    ! "),
      ),
      mostServers,
      "servers",
    ),
  ];
}

function changesOf({ file, text }: FoundConfig, before: string): readonly string[] {
  const values = [before, text].map((part) => parseDocument(part.trim() === "" ? "{}" : part, file).value([]));
  return toDiffLines({ path: file, before, after: text, values })
    .slice(2)
    .map((line) => shorten(line, shownCharacters));
}

/** The command with its arguments, or the address. References to variables are shown as they are. */
function aimOf(document: Document, path: Path): string {
  const member = (name: string): unknown => document.value([...path, name]);
  const args = member("args");
  const words = [member("command"), ...(Array.isArray(args) ? args : [args])].filter((word) => word !== undefined);
  const address = member("url") ?? member("serverUrl") ?? member("httpUrl");
  const aims = [
    ...(words.length === 0 ? [] : [words.map((word) => wordOf(word)).join(" ")]),
    ...(address === undefined ? [] : [wordOf(address)]),
  ];
  return aims.length === 0 ? "nothing" : shown(aims.join(" and "));
}

function wordOf(word: unknown): string {
  return typeof word === "string" && /^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word);
}

/** Every other value of the file, with its path: `toolyard.host = "0.0.0.0"`. */
function valuesBeside(document: Document, servers: readonly Path[]): readonly string[] {
  const isAim = (path: Path): boolean =>
    servers.some((server) => server.every((step, at) => path[at] === step)) &&
    ["command", "args", "url", "serverUrl", "httpUrl"].includes(String(path[servers[0]?.length ?? 0]));
  const collect = (value: unknown, path: Path): readonly string[] => {
    if (isAim(path)) return [];
    if (typeof value === "object" && value !== null)
      return Object.entries(value).flatMap(([key, member]) => collect(member, [...path, key]));
    const isSecret =
      typeof value === "string" && !value.includes("${") && path.some((step) => isSecretName(String(step)));
    return [toLine(`${path.join(".")} = ${isSecret ? "(a secret)" : JSON.stringify(value)}`)];
  };
  return collect(document.value([]), []);
}

const toLine = (text: string): string => `  ${shown(text)}`;

/** Tells how much is left out, because that may be what the file is about. */
function shown(text: string): string {
  const left = text.length - shownCharacters;
  const cut = shorten(plainText(text), shownCharacters);
  return left <= 0 ? cut : `${cut} (and ${left} characters more)`;
}

function limited(lines: readonly string[], most: number, what: string): readonly string[] {
  const left = lines.length - most;
  return left <= 0 ? lines : [...lines.slice(0, most), `  and ${left} ${what} more: look at the file`];
}
