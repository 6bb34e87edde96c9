import { spawn } from "node:child_process";
import { mkdir, readFile, realpath, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { replaceFile } from "../../store/files/safe/replace-file.ts";
import { dataDirectoryOf, openDataDirectory, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { defineService, type ServiceDefinition, type ServiceStep, type ServiceSystem } from "./service-definition.ts";
import { diffLines } from "../../kernel/text/text-diff.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";
import { askYes, canAsk } from "../terminal/yes-or-no.ts";

/** `toolyard service install|remove|status`: the gateway as a service of this user. */
export async function service(context: CommandContext): Promise<number> {
  const [what] = context.positionals;
  if (what === "install") return await install(context);
  if (what === "remove") return await remove(context);
  if (what === "status") return await showStatus(context);
  throw new GatewayError(
    "CONFIG_INVALID",
    `service: expected install, remove or status, not ${JSON.stringify(what ?? "")}`,
    {
      hint: "Write `toolyard service install`.",
    },
  );
}

/** Something waits for a yes, and there is no one to ask. */
const needsAnswer = 2;

async function install(context: CommandContext): Promise<number> {
  const { definition, notes } = await define(context);
  const { file, text, bytes } = definition;
  const before = await readDefinition(file);
  const sameText = before !== undefined && before.equals(bytes);
  print([
    `${before === undefined ? "new file " : ""}${file}`,
    ...diffLines(before === undefined ? "" : decode(before), text),
    "",
  ]);
  print([...notes, "Then:", ...definition.install.map((step) => `  ${stepText(step)}`)]);
  if (isOn(context, "dry-run")) return told("Nothing was changed: this is what would be.", 0);
  if (!(await isConfirmed(context, "Install this service?")))
    return isAnswerable(context) ? told("Nothing was changed.", 1) : needsAnswer;
  if (!sameText) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, bytes);
  }
  const failed = await runAll(definition.install);
  if (failed !== undefined) {
    process.stderr.write(`toolyard: ${failed}\n  The file is written. Run the missing commands yourself:\n`);
    process.stderr.write(definition.install.map((step) => `    ${stepText(step)}\n`).join(""));
    return 1;
  }
  return told(
    "It runs, and starts again whenever you log in. `toolyard status` shows it, `toolyard service remove` takes it away.",
    0,
  );
}

async function remove(context: CommandContext): Promise<number> {
  const { definition } = await define(context);
  if ((await readDefinition(definition.file)) === undefined)
    return told(`There is no service: ${definition.file} is not there.`, 0);
  print([`- ${definition.file}`, "First:", ...definition.remove.map((step) => `  ${stepText(step)}`)]);
  if (isOn(context, "dry-run")) return told("Nothing was changed: this is what would be.", 0);
  if (!(await isConfirmed(context, "Remove this service?")))
    return isAnswerable(context) ? told("Nothing was changed.", 1) : needsAnswer;
  await runAll(definition.remove);
  await rm(definition.file, { force: true });
  return told("It is removed. Your configuration and data are as they were.", 0);
}

async function showStatus(context: CommandContext): Promise<number> {
  const { definition } = await define(context);
  const written = await readDefinition(definition.file);
  if (written === undefined) return told("There is no service. `toolyard service install` makes one.", 1);
  const isSame = written.equals(definition.bytes);
  print([
    definition.file,
    ...(isSame
      ? []
      : ["It is not what `toolyard service install` would write here and now: run that to bring it up to date."]),
  ]);
  const { code, said } = await run(definition.status);
  print(["", ...said.trimEnd().split("\n")]);
  return code === 0 ? 0 : 1;
}

interface Defined {
  readonly definition: ServiceDefinition;
  readonly notes: readonly string[];
}

/** The service as it is to be, of this program, this Node and this configuration. Rejects as `readConfig` does. */
async function define(context: CommandContext): Promise<Defined> {
  const config = await readConfig(context);
  const system: ServiceSystem =
    process.platform === "darwin" || process.platform === "win32" ? process.platform : "linux";
  const mainFile = await realpath(process.argv[1] ?? "");
  const dataDir = resolve(context.cwd, dataDirectoryOf(config, context));
  const path = context.env["PATH"];
  const definition = defineService(
    {
      node: process.execPath,
      mainFile,
      args: [
        "serve",
        ...(config.file === undefined ? [] : ["--config", config.file]),
        ...["--data-dir", dataDir, "--log-format", "file"],
      ],
      directory: config.file === undefined ? context.home : dirname(config.file),
      // Service managers know only the system's own folders, and not those of npx, uvx or docker.
      environment: path === undefined ? {} : { PATH: path },
      outputFile: join(dataDir, "service.log"),
    },
    { system, home: context.home, env: context.env, dataDir },
  );
  // Also tells whether it can be written.
  if (context.positionals[0] === "install" && !isOn(context, "dry-run")) openDataDirectory(config, context);
  const variables = Object.keys(config.identity?.variables ?? {}).filter((name) => name !== "PATH");
  const settings = Object.keys(context.env).filter((name) => name.startsWith("TOOLYARD_"));
  return {
    definition,
    notes: [
      ...(config.file === undefined
        ? ["There is no configuration yet: the service has no servers until there is one in the usual place."]
        : []),
      ...(variables.length === 0
        ? []
        : [
            `The configuration refers to variables that a service does not have: ${variables.join(", ")}. Put them into a file that the server's envFile names.`,
          ]),
      ...(settings.length === 0
        ? []
        : [`These variables are set here, and not for the service: ${settings.join(", ")}.`]),
      ...(mainFile.includes("_npx")
        ? ["This program is in npm's cache, which is cleaned up now and then: install it first."]
        : []),
    ],
  };
}

async function readDefinition(file: string): Promise<Buffer | undefined> {
  return await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new GatewayError("CONFIG_INVALID", `${file} cannot be read: ${error.message}`, { cause: error });
  });
}

function decode(bytes: Buffer): string {
  return bytes[0] === 0xff && bytes[1] === 0xfe
    ? bytes
        .toString("utf16le")
        .replace(/^\uFEFF/, "")
        .replaceAll("\r\n", "\n")
    : bytes.toString();
}

function isAnswerable(context: CommandContext): boolean {
  if (canAsk() || isOn(context, "yes")) return true;
  process.stderr.write("toolyard: nothing was changed: there is no one to ask here, so say --yes or --dry-run\n");
  return false;
}

async function isConfirmed(context: CommandContext, question: string): Promise<boolean> {
  return isOn(context, "yes") || (canAsk() && (await askYes(question)));
}

/** Runs them in turn. Returns why one failed, and does not go on then. */
async function runAll(steps: readonly ServiceStep[]): Promise<string | undefined> {
  return await whileWaiting("Waiting for the service manager", async () => {
    for (const step of steps) {
      const { code, said } = await run(step);
      if (code !== 0 && step.mayFail !== true)
        return `\`${stepText(step)}\` failed${said.trim() === "" ? "" : `: ${plainText(said.trim()).slice(0, 400)}`}`;
    }
    return undefined;
  });
}

/** A manager that does not answer must not hold anybody up for ever. */
const stepTimeoutMs = 60_000;
const mostOutput = 20_000;

async function run({ command, args }: ServiceStep): Promise<{ readonly code: number | null; readonly said: string }> {
  return await new Promise((done) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      timeout: stepTimeoutMs,
    });
    let said = "";
    const hear = (chunk: Buffer): void => {
      if (said.length < mostOutput) said += chunk.toString();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => done({ code: null, said: error.message }));
    child.on("close", (code) => done({ code, said }));
  });
}

function stepText({ command, args }: ServiceStep): string {
  return [command, ...args.map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word)))].join(" ");
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.map(plainText).join("\n")}\n`);
}

function told(sentence: string, code: number): number {
  process.stdout.write(`${sentence}\n`);
  return code;
}
