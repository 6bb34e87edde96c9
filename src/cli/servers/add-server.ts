import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { ServerTrial } from "../../app/fronts/server-trial.ts";
import type { Config } from "../../config/config.ts";
import type { NeededInput } from "../../config/registry/registry-inputs.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { dataDirectoryOf, type CommandContext } from "../command/command-context.ts";
import { isOn, listOption, textOption } from "../command/options.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../terminal/plain-text.ts";
import { openEditedConfig, pathForNew, type EditedConfig } from "./edited-config.ts";
import { reportChange } from "./change-report.ts";
import { interrupted } from "../terminal/interruption.ts";
import { createEntry, type NewEntry } from "./new-entry.ts";
import { readAddedWords, readEntryWords } from "./server-words.ts";
import { toTrialText } from "./trial-text.ts";
import { reportTrials, runTrial } from "./try-configured.ts";
import { readFile } from "node:fs/promises";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/** Of one entry; far more than anybody writes. */
const mostBytes = 1_000_000;

/** The entry in a file, or from standard input where it is called `-`. Rejects with CONFIG_INVALID. */
async function readEntryFile(file: string, cwd: string): Promise<JsonObject> {
  const value = parse(file === "-" ? await readInput() : await readText(file, cwd));
  if (isJsonObject(value)) return value;
  throw refused(file, "expected one JSON object, as a server has it in `mcpServers`");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(file: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (error) {
    // What other programs take as JSON on their command line would leave its secrets in the shell's history.
    if (file.trimStart().startsWith("{")) throw refusedText();
    throw refused(file, `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) throw refused("-", "is too long for an entry");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function refused(file: string, why: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", `--entry ${file}: ${why}`, {
    hint: 'Write an entry such as { "command": "npx", "args": ["-y", "package"] }.',
  });
}

function refusedText(): GatewayError {
  return new GatewayError("CONFIG_INVALID", "--entry takes the name of a file, and was given JSON", {
    hint: "Write it into a file, or give it on standard input: `echo '{ … }' | toolyard servers add NAME --entry -`.",
  });
}

/** A server that is not in the file: its entry, and what the file would mean with it. */
interface NewInFile {
  readonly made: NewEntry;
  readonly edited: EditedConfig;
  readonly text: string;
  readonly config: Config;
}

/** Makes the entry and tells what it is. Nothing is started or written yet. Rejects with CONFIG_INVALID. */
async function makeNew(context: CommandContext, words: readonly string[]): Promise<NewInFile> {
  const entryFile = textOption(context, "entry");
  const added =
    entryFile === undefined
      ? readAddedWords(words, context.afterDashes)
      : readEntryWords(words, await readEntryFile(entryFile, context.cwd));
  const edited = await openEditedConfig(context);
  const before = await edited.check(edited.opened.text.trim() === "" ? "{}" : edited.opened.text);
  const made = await createEntry(
    {
      ...added,
      env: listOption(context, "env"),
      headers: listOption(context, "header"),
      remoteKind: isOn(context, "sse") ? "sse" : "http",
      literalSecrets: isOn(context, "literal-secrets"),
      from: textOption(context, "from"),
    },
    {
      registryUrl: before.settings.registryUrl,
      cwd: context.cwd,
      folder: dirname(edited.opened.file),
      environment: context.env,
      signal: interrupted(),
      ask: process.stdin.isTTY && process.stderr.isTTY ? askPerson : undefined,
    },
  );
  refuseTaken(edited, made.name);
  for (const note of made.notes) printText(process.stderr, plainText(note));
  printText(process.stderr, `${made.name}: ${plainText(describeEntry(made.entry))}`);
  const text = edited.edit([{ path: pathForNew(edited, made.name), value: made.entry }]);
  const given = Object.fromEntries([...made.variables].filter(([, value]) => value !== undefined));
  const config = await edited.check(text, given);
  // Such as a mistyped field, which may be why the server cannot be used.
  for (const warning of config.warnings.filter((one) => !before.warnings.includes(one)))
    printText(process.stderr, `warning: ${plainText(warning)}`);
  return { made, edited, text, config };
}

/** `toolyard servers add`: makes an entry, tries the server, writes it, and waits until the gateway has it. */
export async function addServer(context: CommandContext, words: readonly string[]): Promise<number> {
  const { made, edited, text, config } = await makeNew(context, words);
  if (isOn(context, "dry-run")) return await onlyTry(context, config, made.name);
  const trial = isOn(context, "no-test") ? undefined : await tryNew(context, config, made.name);
  if (trial !== undefined) printText(process.stderr, toTrialText(trial).join("\n"));
  // Somebody can only log in at a server that is in the file.
  const isGood = trial === undefined || trial.isUsable || trial.status === "requires_reauth";
  if (!isGood && !isOn(context, "force")) {
    process.stderr.write("Nothing was written. --force adds it all the same.\n");
    return 1;
  }
  const backup = await edited.save(text);
  tellVariables(context, made);
  const slug = config.servers.find(({ key }) => key === made.name)?.slug ?? made.name;
  return await reportChange(context, {
    what: `added ${made.name} to ${edited.opened.file}`,
    server: { key: made.name, slug, isToRun: true },
    facts: {
      name: made.name,
      file: edited.opened.file,
      backup: backup ?? null,
      entry: made.entry,
      trial: trial ?? null,
    },
  });
}

/** Tells what the server would be like, and writes nothing. */
async function onlyTry(context: CommandContext, config: Config, name: string): Promise<number> {
  const trial = await tryNew(context, config, name);
  return reportTrials(context, trial === undefined ? [] : [trial]);
}

function refuseTaken({ servers, document }: EditedConfig, name: string): void {
  const place = servers.find(({ key }) => key === name);
  if (place === undefined) return;
  throw new GatewayError(
    "CONFIG_INVALID",
    `${document.place(place.path)}: there is a server ${JSON.stringify(name)} already`,
    {
      hint: `Choose another name, or take that one out first with \`toolyard servers remove ${name}\`.`,
    },
  );
}

/** Starts the server of this name, apart from the running gateway. */
async function tryNew(context: CommandContext, config: Config, name: string): Promise<ServerTrial | undefined> {
  const server = config.servers.filter(({ key }) => key === name);
  const [trial] = await runTrial(context, config, server, dataDirectoryOf(config, context));
  return trial;
}

/** What will be started or asked, in full. */
function describeEntry({ command, args, url }: NewEntry["entry"]): string {
  if (typeof command !== "string") return typeof url === "string" ? url : "neither a command nor an address";
  const words = [command, ...(Array.isArray(args) ? args : [])].map((word: unknown) => quote(String(word)));
  return words.join(" ");
}

function quote(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function tellVariables({ env }: CommandContext, { variables }: NewEntry): void {
  const unset = [...variables.keys()].filter((name) => (env[name] ?? "") === "");
  if (unset.length === 0) return;
  const names = unset.join(" and ");
  printText(
    process.stderr,
    `The file refers to ${names}, because secrets do not belong in it. Set ${unset.length === 1 ? "it" : "them"} where the gateway is started; --literal-secrets writes the given values into the file.`,
  );
}

/** Asks on stderr, because results go to stdout. */
async function askPerson({ name, description, choices, placeholder }: NeededInput): Promise<string> {
  const about = [description, choices?.join(" | ") ?? "", placeholder === undefined ? "" : `such as ${placeholder}`];
  const facts = about.filter((text) => text !== "").join("; ");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (;;) {
      const answer = await lines.question(plainText(`${name}${facts === "" ? "" : ` (${facts})`}: `));
      if (answer.trim() !== "" && (choices?.includes(answer.trim()) ?? true)) return answer.trim();
    }
  } finally {
    lines.close();
  }
}
