import {
  inSandbox,
  isWorthAdding,
  makeNew,
  writeExamples,
  writeNew,
} from "../../operations/machine/servers/added-server.ts";
import type { NewInFile } from "../../operations/machine/servers/added-server.ts";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { type ServerTrial, toTrialText } from "../../operations/machine/servers/trial-result.ts";
import type { Config } from "../../config/config.ts";
import type { NeededInput } from "../../config/registry/registry-inputs.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { dataDirectoryOf } from "../../operations/machine/surroundings/surroundings.ts";
import { type CommandContext } from "../command/command-context.ts";
import { isOn, listOption, textOption } from "../../config/given.ts";
import { printText } from "../terminal/fitted-text.ts";
import { isForSandbox } from "../../config/words/sandbox-words.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { askSecret, askYes, canAsk } from "../terminal/yes-or-no.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { reportChange } from "./change-report.ts";
import { interrupted } from "../terminal/waiting-line.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { readAddedWords, readEntryWords, splitPair } from "../../operations/machine/servers/server-words.ts";
import { reportTrials, runTrial } from "./try-configured.ts";
import { readFile } from "node:fs/promises";
import { isJsonObject, type JsonObject, parseJson } from "../../kernel/text/json-bytes.ts";

/** Of one entry; far more than anybody writes. */
const mostBytes = 1_000_000;

/** The entry in a file, or from standard input where it is called `-`. Rejects with CONFIG_INVALID. */
async function readEntryFile(file: string, cwd: string): Promise<JsonObject> {
  const value = parseJson(file === "-" ? await readInput() : await readText(file, cwd));
  if (isJsonObject(value)) return value;
  throw refused(file, "expected one JSON object, as a server has it in `mcpServers`");
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

/** Makes the entry and tells what it is. Nothing is started or written yet. Rejects with CONFIG_INVALID. */
async function makeAdded(context: CommandContext, words: readonly string[]): Promise<NewInFile> {
  const entryFile = textOption(context, "entry");
  const added =
    entryFile === undefined
      ? readAddedWords(words, context.afterDashes)
      : readEntryWords(words, await readEntryFile(entryFile, context.cwd));
  const wanted = {
    ...added,
    env: listOption(context, "env").map((text) => splitPair(text, "--env")),
    headers: listOption(context, "header").map((text) => splitPair(text, "--header")),
    remoteKind: isOn(context, "sse") ? ("sse" as const) : ("http" as const),
    literalSecrets: isOn(context, "literal-secrets"),
    from: textOption(context, "from"),
  };
  const ask = canAsk() ? askPerson : undefined;
  const fresh = await makeNew(context, wanted, { signal: interrupted(), ask });
  for (const line of fresh.said) printText(process.stderr, line);
  return fresh;
}

/** `toolyard servers add`: makes an entry, tries the server, writes it, and waits until the gateway has it. */
export async function addServer(context: CommandContext, words: readonly string[]): Promise<number> {
  const fresh = await makeAdded(context, words);
  const { config, made } = fresh;
  if (!(await isAccepted(context, fresh))) return 1;
  if (isOn(context, "dry-run")) return await onlyTry(context, config, made.name);
  const inside = await tryInside(context, fresh);
  if (inside !== undefined) return await reportAdded(context, inside.fresh, inside.trial);
  const trial = isOn(context, "no-test") ? undefined : await tryNew(context, config, made.name);
  if (trial !== undefined) printText(process.stderr, toTrialText(trial).join("\n"));
  if (!isWorthAdding(trial) && !isOn(context, "force")) {
    process.stderr.write("Nothing was written. --force adds it all the same.\n");
    return 1;
  }
  return await reportAdded(context, fresh, trial);
}

/** An entry may come from anywhere: what it loosens is asked about before it runs. */
async function isAccepted(context: CommandContext, { made, loosened }: NewInFile): Promise<boolean> {
  if (loosened.length === 0 || isOn(context, "force")) return true;
  if (canAsk() && (await askYes(`Start ${plainText(made.name)} with this sandbox?`, false))) return true;
  process.stderr.write("Nothing was started or written. --force adds it all the same.\n");
  return false;
}

async function reportAdded(context: CommandContext, fresh: NewInFile, trial: ServerTrial | undefined): Promise<number> {
  const added = await writeNew(context, fresh, trial);
  for (const line of added.said) printText(process.stderr, line);
  return await reportChange(context, added);
}

/**
 * Tries a package in a sandbox first: it is somebody else's program. Undefined where it is added as ever: it is no
 * package, lives on the user's own files or keys, or it was not wanted.
 */
async function tryInside(
  context: CommandContext,
  fresh: NewInFile,
): Promise<{ readonly fresh: NewInFile; readonly trial: ServerTrial } | undefined> {
  const isMeant = isOn(context, "sandbox") || (canAsk() && isProposed(fresh));
  if (!isMeant || isOn(context, "no-test") || isOn(context, "no-sandbox")) return undefined;
  const confined = await inSandbox(fresh);
  const { made, config } = confined;
  const trial = await tryNew(context, config, made.name);
  if (trial === undefined) return undefined;
  const said = trial.isUsable ? toTrialText(trial) : [`${made.name} does not work in a sandbox: ${trial.reason}`];
  printText(process.stderr, said.join("\n"));
  const isAgreed =
    trial.isUsable && (isOn(context, "sandbox") || (await askYes("It works in a sandbox. Keep it in one?")));
  return isAgreed ? { fresh: confined, trial } : undefined;
}

function isProposed({ config, made }: NewInFile): boolean {
  const transport = config.servers.find(({ key }) => key === made.name)?.transport;
  if (transport === undefined || !hasProcess(transport) || transport.sandbox !== undefined) return false;
  return isForSandbox(transport.command, transport.args);
}

/** `toolyard servers add --examples`: three servers to try the gateway with, without those that are there already. */
export async function addExamples(context: CommandContext, words: readonly string[]): Promise<number> {
  if (words.length > 0) return refuseUsage("--examples takes no name", "toolyard servers add --examples");
  const { what, last, facts } = await writeExamples(context);
  if (last !== undefined) return await reportChange(context, { what, server: last, facts });
  process.stdout.write(`${isOn(context, "json") ? JSON.stringify(facts) : what}\n`);
  return 0;
}

/** Tells what the server would be like, and writes nothing. */
async function onlyTry(context: CommandContext, config: Config, name: string): Promise<number> {
  const trial = await tryNew(context, config, name);
  return reportTrials(context, trial === undefined ? [] : [trial]);
}

/** Starts the server of this name, apart from the running gateway. */
async function tryNew(context: CommandContext, config: Config, name: string): Promise<ServerTrial | undefined> {
  const server = config.servers.filter(({ key }) => key === name);
  const [trial] = await runTrial(context, config, server, dataDirectoryOf(config, context));
  return trial;
}

/** Asks on stderr, because results go to stdout. What need not be given is left out with Enter. */
async function askPerson(input: NeededInput): Promise<string | undefined> {
  const { name, description, choices, placeholder, isSecret, isRequired, preset } = input;
  const about = [description, choices?.join(" | ") ?? "", placeholder === undefined ? "" : `such as ${placeholder}`];
  const facts = about.filter((text) => text !== "").join("; ");
  const question = plainText(`${name}${facts === "" ? "" : ` (${facts})`}: `);
  const mayLeave = !isRequired || preset !== undefined;
  if (isSecret) return await askSecret(`${question}kept encrypted${mayLeave ? "; Enter leaves it out" : ""}`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (;;) {
      const answer = (await lines.question(question)).trim();
      if (answer === "" && mayLeave) return undefined;
      if (answer !== "" && (choices?.includes(answer) ?? true)) return answer;
    }
  } finally {
    lines.close();
  }
}
