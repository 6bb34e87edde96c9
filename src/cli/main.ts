#!/usr/bin/env node
import { homedir } from "node:os";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { homeDirectories } from "../config/directories.ts";
import type { FailureCode } from "../kernel/failures.ts";
import { toGatewayError } from "../kernel/gateway-error.ts";
import { ignoreBrokenPipes } from "./broken-pipe.ts";
import { commandHelp, generalHelp, usageOf } from "./help.ts";
import { commonOptions, type CommandContext } from "./command-context.ts";
import type { GivenFlags } from "./options.ts";
import { packageVersion } from "../app/package-version.ts";

/** Exit codes: 0 fine, 1 failed, 2 wrong usage or configuration. */
const wrongUsage = 2;
const wrongOnes: readonly FailureCode[] = ["CONFIG_INVALID", "BIND_REFUSED", "ADDRESS_UNUSABLE"];

interface Command {
  /** How many words it takes beside its options. */
  readonly words: 0 | 1;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  readonly load: () => Promise<(context: CommandContext) => Promise<number>>;
}

const serveOptions = {
  ...commonOptions,
  host: { type: "string" },
  port: { type: "string" },
  "public-url": { type: "string" },
  insecure: { type: "boolean" },
  "idle-exit": { type: "string" },
  "log-format": { type: "string" },
  verbose: { type: "boolean" },
} as const;

/** Whose login at which server: what `login` and `logout` have in common. */
const accountOptions = {
  config: { type: "string" },
  "data-dir": { type: "string" },
  principal: { type: "string" },
} as const;
const loginOptions = {
  ...accountOptions,
  "no-browser": { type: "boolean" },
  scope: { type: "string" },
  "client-id": { type: "string" },
  "client-metadata-url": { type: "string" },
  "callback-port": { type: "string" },
} as const;

/** Every command, loaded when it is the one that was asked for. */
const commands: Readonly<Record<string, Command>> = {
  serve: { words: 0, options: serveOptions, load: async () => (await import("./serve-command.ts")).serve },
  stdio: {
    words: 0,
    options: { ...commonOptions, "in-process": { type: "boolean" } },
    load: async () => (await import("./stdio-command.ts")).stdio,
  },
  login: { words: 1, options: loginOptions, load: async () => (await import("./login-command.ts")).login },
  logout: { words: 1, options: { ...accountOptions }, load: async () => (await import("./login-command.ts")).logout },
  status: { words: 0, options: commonOptions, load: async () => (await import("./control-commands.ts")).status },
  restart: { words: 1, options: commonOptions, load: async () => (await import("./control-commands.ts")).restart },
  stop: { words: 0, options: commonOptions, load: async () => (await import("./control-commands.ts")).stop },
  token: {
    words: 1,
    options: { principal: { type: "string" } },
    load: async () => (await import("./token-command.ts")).token,
  },
};

async function main(argv: readonly string[]): Promise<number> {
  const [first] = argv;
  const named = first !== undefined && Object.hasOwn(commands, first) ? first : undefined;
  if (named === undefined && first !== undefined && !first.startsWith("-")) {
    process.stderr.write(`toolyard: there is no command ${JSON.stringify(first)}\n\n${generalHelp()}`);
    return wrongUsage;
  }
  const name = named ?? "serve";
  const command = commands[name] as Command;
  let parsed: { values: GivenFlags; positionals: string[] };
  try {
    parsed = parseArgs({
      args: argv.slice(named === undefined ? 0 : 1),
      options: { ...command.options, help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } },
      allowPositionals: true,
      strict: true,
    }) as never;
  } catch (error) {
    process.stderr.write(`toolyard: ${error instanceof Error ? error.message : String(error)}\n`);
    return wrongUsage;
  }
  if (parsed.values["version"] === true) {
    process.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  if (parsed.values["help"] === true) {
    process.stdout.write(named === undefined ? generalHelp() : commandHelp(name));
    return 0;
  }
  const tooMuch = parsed.positionals[command.words];
  if (tooMuch !== undefined) {
    process.stderr.write(`toolyard: what is ${JSON.stringify(tooMuch)}? ${usageOf(name)}\n`);
    return wrongUsage;
  }
  const run = await command.load();
  return await run({
    flags: parsed.values,
    positionals: parsed.positionals,
    env: process.env,
    cwd: process.cwd(),
    homeDirectories: homeDirectories(process.env, process.platform, homedir()),
    version: packageVersion(),
  });
}

ignoreBrokenPipes(process.stdout, process.stderr);
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const failure = toGatewayError(error);
    process.stderr.write(
      `toolyard: ${failure.message}\n${failure.code === "INTERNAL" ? `${String(failure.stack)}\n` : `  ${failure.hint}\n`}`,
    );
    process.exitCode = wrongOnes.includes(failure.code) ? wrongUsage : 1;
  },
);
