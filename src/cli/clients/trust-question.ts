import { parseDocument, type Document, type Path } from "../../config/file/document.ts";
import type { FoundConfig, UntrustedConfig } from "../../config/found-config.ts";
import { isSecretName } from "../../config/words/secret-names.ts";
import { findServers } from "../../config/file/source.ts";
import { trustedIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { toDiffLines } from "../../operations/machine/clients/file-diff.ts";
import { plainText, shorten } from "../../kernel/text/plain-text.ts";
import { askYes, canAsk } from "../terminal/yes-or-no.ts";

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
export function toQuestion(found: FoundConfig, before: string | undefined): readonly string[] {
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
      servers.map(({ key, path }) => `  ${shown(key)}: ${aimOf(document, path)}`),
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
