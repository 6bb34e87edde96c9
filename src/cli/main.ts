#!/usr/bin/env node
import { homedir } from "node:os";
import { parseArgs } from "node:util";
import { homeDirectories } from "../config/file/directories.ts";
import { UntrustedConfig } from "../config/found-config.ts";
import type { FailureCode } from "../kernel/failures/failures.ts";
import { toGatewayError, type GatewayError } from "../kernel/failures/gateway-error.ts";
import { commandHelp, generalHelp, usageOf } from "./command/help.ts";
import type { Command, Options, RunCommand } from "./command/command-row.ts";
import { anyCommandOptions, commands } from "./commands.ts";
import type { CommandContext } from "./command/command-context.ts";
import type { GivenFlags, GivenLists } from "../config/given.ts";
import { printText } from "./terminal/fitted-text.ts";
import { packageVersion } from "../app/package-version.ts";
import type { Writable } from "node:stream";

/** Exit codes: 0 fine, 1 failed, 2 wrong usage or configuration. */
const wrongUsage = 2;
const wrongOnes: readonly FailureCode[] = ["CONFIG_INVALID", "CONFIG_UNTRUSTED", "BIND_REFUSED", "ADDRESS_UNUSABLE"];

async function main(argv: readonly string[]): Promise<number> {
  const [first] = argv;
  // What the scripts of `completion` call. A person's words come after it, so that it has no options of its own.
  if (first === "complete")
    return await (await import("./short-commands.ts")).complete(argv.slice(1), toContext(), allOptions());
  // As git, npm and docker have it beside the option.
  if (first === "help") return await main([...argv.slice(1, 2), "--help"]);
  const named = first !== undefined && Object.hasOwn(commands, first) ? first : undefined;
  if (named === undefined && first !== undefined && !first.startsWith("-")) {
    const { unknownCommand } = await import("./short-commands.ts");
    return mistyped(unknownCommand(first, Object.keys(commands)));
  }
  const name = named ?? "serve";
  const command = commands[name] as Command;
  let parsed: Parsed;
  try {
    parsed = parse(argv.slice(named === undefined ? 0 : 1), command.options);
  } catch (error) {
    const { wrongOption } = await import("./short-commands.ts");
    return mistyped(wrongOption(error, named, Object.keys({ ...command.options, ...anyCommandOptions })));
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
    printText(process.stderr, `toolyard: what is ${JSON.stringify(tooMuch)}? ${usageOf(name)}`);
    return wrongUsage;
  }
  return await runTrusted(await (command.load ?? (() => loadShort(name)))(), toContext(parsed, named === undefined));
}

async function loadShort(name: string): Promise<RunCommand> {
  const all: Readonly<Record<string, unknown>> = await import("./short-commands.ts");
  return all[name] as RunCommand;
}

/** A configuration that was found and not allowed yet is asked about, and the command begins again after a yes. */
async function runTrusted(run: RunCommand, context: CommandContext): Promise<number> {
  for (;;) {
    try {
      return await run(context);
    } catch (error) {
      if (!(error instanceof UntrustedConfig)) throw error;
      const { askTrust } = await import("./short-commands.ts");
      if (!(await askTrust(context, error))) throw error;
    }
  }
}

function mistyped(said: string): number {
  printText(process.stderr, `toolyard: ${said}`);
  return wrongUsage;
}

/** The table of commands with the options that all of them have. */
function allOptions(): Readonly<Record<string, Pick<Command, "about" | "options">>> {
  return Object.fromEntries(
    Object.entries(commands).map(([name, { about, options }]) => [
      name,
      { about, options: { ...options, ...anyCommandOptions } },
    ]),
  );
}

const nothingGiven: Parsed = { values: {}, lists: {}, positionals: [], afterDashes: undefined };

function toContext({ values: flags, ...parsed }: Parsed = nothingGiven, isBare = false): CommandContext {
  return {
    ...parsed,
    flags,
    isBare,
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    homeDirectories: homeDirectories(process.env, process.platform, homedir()),
    version: packageVersion(),
    mainFile: process.argv[1] ?? "",
    unlocked: {},
  };
}

interface Parsed {
  readonly values: GivenFlags;
  /** Options that may be given several times. */
  readonly lists: GivenLists;
  readonly positionals: readonly string[];
  /** The words after `--`, which are among the positionals. Undefined without `--`. */
  readonly afterDashes: readonly string[] | undefined;
}

/** Throws an Error whose message is for the user. */
function parse(args: readonly string[], options: Options): Parsed {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: parsedOptions(options),
    allowPositionals: true,
    strict: true,
    tokens: true,
  });
  const dashes = tokens.find(({ kind }) => kind === "option-terminator");
  const given = Object.entries(values);
  return {
    values: Object.fromEntries(given.filter(([, value]) => !Array.isArray(value))) as GivenFlags,
    lists: Object.fromEntries(given.filter(([, value]) => Array.isArray(value))) as unknown as GivenLists,
    positionals,
    afterDashes: dashes === undefined ? undefined : args.slice(dashes.index + 1),
  };
}

type ParsedOption = { readonly type: "string" | "boolean"; readonly short?: string; readonly multiple?: boolean };

function parsedOptions(options: Options): Readonly<Record<string, ParsedOption>> {
  const own = Object.entries(options).map(
    ([name, { word, short, isRepeated = false }]) =>
      [
        name,
        {
          type: word === undefined ? "boolean" : "string",
          multiple: isRepeated,
          ...(short === undefined ? {} : { short }),
        },
      ] as const,
  );
  const { help, version } = anyCommandOptions;
  return {
    ...Object.fromEntries(own),
    help: { type: "boolean", short: help.short },
    version: { type: "boolean", short: version.short },
  };
}

function indented(line: string): string {
  return line === "" ? "" : `  ${line}`;
}

/** What a tool takes, and what may have been meant. */
function meantBy({ data = {} }: GatewayError): readonly string[] {
  const list = (name: string): readonly string[] => {
    const given = data[name];
    return Array.isArray(given) ? given.map(String) : [];
  };
  const { signature } = data;
  const exact = [...list("tool_paths"), ...list("uris")];
  const meant = [...new Set([...list("closest"), ...exact])];
  return [
    ...(typeof signature === "string" ? [`It takes ${signature}`] : []),
    ...(meant.length === 0 ? [] : [`${exact.length > 0 ? "One of" : "Closest"}: ${meant.join(", ")}`]),
  ];
}

ignoreBrokenPipes(process.stdout, process.stderr);
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const failure = toGatewayError(error);
    const isFault = failure.code === "INTERNAL" && failure.cause !== undefined;
    const more = isFault ? [String(failure.stack)] : [failure.hint, ...meantBy(failure)].map(indented);
    printText(
      process.stderr,
      [`toolyard: ${failure.message}`, ...more.filter((line) => line.trim() !== "")].join("\n"),
    );
    process.exitCode = wrongOnes.includes(failure.code) ? wrongUsage : 1;
  },
);

/**
 * The reader of the output may leave before its end (`toolyard status | head -1`). Output after that is lost, and
 * nothing else happens: a gateway goes on serving, and a command ends as it would have. Other errors of these streams
 * are ignored as well, because there is nowhere to report them.
 */
function ignoreBrokenPipes(...streams: readonly Writable[]): void {
  for (const stream of streams) stream.on("error", () => undefined);
}
