import { readConfig, dataDirectoryOf, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { servedBy, type CommandContext } from "../command/command-context.ts";
import { openLog } from "../command/command-log.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell } from "../terminal/record-cells.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";
import type { Config, ServerConfig } from "../../config/config.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import {
  completionChoices,
  type CommandTable,
  type KnownNames,
  type KnownTool,
  afterBreak,
  splitTyped,
  type TypedWords,
} from "./completion-choices.ts";
import { shells, toCompletionScript } from "./completion-scripts.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";

/** `toolyard completion SHELL`: the script that makes a shell complete the words of this program. */
export function completion(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  const shell = shells.find((one) => one === name);
  if (shell === undefined)
    return Promise.resolve(refuseUsage(`which shell? ${shells.join(", ")}`, "toolyard completion <shell>"));
  const [, main = ""] = process.argv;
  process.stdout.write(toCompletionScript(shell, [process.execPath, main]));
  return Promise.resolve(0);
}

/**
 * What the scripts call: prints the words that may come next, each with what it is for after a tab. Knows the tools
 * from the catalog that a gateway has kept, so that no server is started, and none is waited for. Quiet about
 * everything, because a shell would print it into the line.
 */
export async function complete(
  argv: readonly string[],
  context: CommandContext,
  commands: CommandTable,
): Promise<number> {
  const [shell, ...given] = argv;
  const typed = shell === "bash" ? readLine(given) : readWords(given);
  const choices = await completionChoices(typed, knownNames({ ...context, flags: placeFlags(typed.before) }), commands);
  const cut = shell === "bash" ? afterBreak(typed.current, given[1] ?? "") : 0;
  for (const { value, about } of choices)
    process.stdout.write(shell === "bash" ? `${value.slice(cut)}\n` : `${value}\t${toCell(about, 80)}\n`);
  return 0;
}

function readLine([line = ""]: readonly string[]): TypedWords {
  const { before, current } = splitTyped(line);
  return { before: before.slice(1), current };
}

function readWords([current = ".", ...before]: readonly string[]): TypedWords {
  return { before, current: current.slice(1) };
}

/** Which configuration is meant, where the line says so. */
function placeFlags(words: readonly string[]): CommandContext["flags"] {
  const flags: Record<string, string> = {};
  for (const name of ["config", "data-dir"]) {
    const at = words.lastIndexOf(`--${name}`);
    const value =
      at === -1 ? words.findLast((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) : words[at + 1];
    if (value !== undefined && value !== "") flags[name] = value;
  }
  return flags;
}

/** A configuration that cannot be read has no names. */
function knownNames(context: CommandContext): KnownNames {
  let config: Promise<Config | undefined> | undefined;
  const read = async (): Promise<Config | undefined> => await (config ??= readConfig(context).catch(() => undefined));
  return {
    async servers() {
      const servers = (await read())?.servers ?? [];
      return servers.map(({ slug, displayName }) => ({ value: plainText(slug), about: displayName ?? "" }));
    },
    async tools() {
      const known = await read();
      if (known === undefined) return [];
      const log = openLog({ config: () => known, write: () => undefined });
      const store = storeIn(dataDirectoryOf(known, context), context);
      const { catalogs } = store.at(store.lock.placeOf(servedBy(known, context)), log);
      const found = await Promise.all(
        known.servers.map(async (server) => {
          const kept = await catalogs.load(server.slug as string as InstanceId);
          return (kept?.lists.tools ?? []).flatMap((tool) => toKnown(server, tool));
        }),
      );
      return found.flat();
    },
  };
}

/** Under its configured name; a tool that the configuration hides is none. */
function toKnown({ slug, tools: rules }: ServerConfig, tool: unknown): readonly KnownTool[] {
  if (!isJsonObject(tool) || typeof tool["name"] !== "string") return [];
  const own = tool["name"];
  const isListed = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesPattern(pattern, own));
  if (isListed(rules.deny) || rules.within?.every(isListed) === false) return [];
  if (rules.allow !== undefined && !isListed(rules.allow)) return [];
  const name = Object.hasOwn(rules.rename, own) ? String(rules.rename[own]) : own;
  const { description, inputSchema } = tool;
  const properties =
    isJsonObject(inputSchema) && isJsonObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
  return [
    {
      path: plainText(`${slug}:${name}`),
      about: typeof description === "string" ? description : "",
      parameters: Object.keys(properties).map(plainText),
    },
  ];
}
