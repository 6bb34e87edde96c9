import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { createInputs, type NeededInput } from "../../../config/registry/registry-inputs.ts";
import { registryChoices, type RegistryChoice } from "../../../config/registry/registry-entry.ts";
import type { RemoteKind } from "../../../config/entry/transports.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { findInPath } from "../../../config/words/command-words.ts";
import { withoutSecrets, type KnownValues } from "./entry-secrets.ts";
import { fillReferences, testedServers, type TestedServer } from "./example-servers.ts";
import { newestVersion } from "./newest-version.ts";
import { findInRegistry } from "./registry-client.ts";

/** The server to be added, from the command line. */
export interface NewServer {
  /** Undefined when it follows from the source. */
  readonly name: string | undefined;
  readonly source: EntrySource;
  readonly env: readonly NamedValue[];
  readonly headers: readonly NamedValue[];
  /** The transport of a URL. */
  readonly remoteKind: RemoteKind;
  readonly literalSecrets: boolean;
  /** Of what a registry offers: `npm`, `pypi`, `oci`, `nuget` or `remote`. */
  readonly from: string | undefined;
}

export type NamedValue = readonly [name: string, value: string];

export type EntrySource =
  | { readonly kind: "command"; readonly words: readonly string[] }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "entry"; readonly entry: Readonly<Record<string, unknown>> }
  | {
      readonly kind: "package";
      readonly registry: "npm" | "pypi";
      readonly name: string;
      readonly version: string | undefined;
    }
  | { readonly kind: "registry"; readonly name: string; readonly version: string | undefined }
  /** Of a tested server; otherwise of a package that either npm or PyPI has. */
  | { readonly kind: "plain"; readonly name: string; readonly version: string | undefined };

export interface EntryDeps {
  readonly registryUrl: string;
  /** Where the command was typed, and the folder of the configuration file. */
  readonly cwd: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Variables that have a value already: of the environment, and kept ones. */
  readonly known: () => KnownValues | Promise<KnownValues>;
  /** Asks a person; undefined when there is none. Resolves to undefined where nothing was given for a secret. */
  readonly ask: ((input: NeededInput) => Promise<string | undefined>) | undefined;
}

/** An entry, and notes for its author. */
export interface NewEntry {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  /** Variables to which secrets refer, with the values that were given for them. */
  readonly variables: ReadonlyMap<string, string | undefined>;
}

/** Makes the entry, with variables in place of secrets. Rejects with CONFIG_INVALID or REGISTRY_FAILED. */
export async function createEntry(wanted: NewServer, deps: EntryDeps): Promise<NewEntry> {
  const made = await makeEntry(wanted, deps);
  return wanted.literalSecrets ? made : await withoutSecrets(made, deps.known);
}

async function makeEntry(wanted: NewServer, deps: EntryDeps): Promise<NewEntry> {
  const { source } = wanted;
  switch (source.kind) {
    case "command":
      return commandEntry(wanted, source.words, deps);
    case "url":
      return plainEntry(wanted, { type: wanted.remoteKind, url: source.url });
    case "entry":
      return wholeEntry(wanted, source.entry);
    case "package":
      return await packageEntry(wanted, source, deps);
    case "registry":
      return await registryEntry(wanted, source, deps);
    case "plain": {
      const tested = (await testedServers()).find(({ name }) => name === source.name);
      if (tested !== undefined && source.version === undefined) return await testedEntry(wanted, tested, deps);
      const found = await findPackage(source, deps);
      const made = await packageEntry(wanted, found, deps);
      return source.version === undefined ? { ...made, notes: [pinnedText(found.version)] } : made;
    }
  }
}

/**
 * Relative paths were typed in the working directory, but a server runs in the folder of the file: where a word names
 * something here, the entry says so.
 */
function commandEntry(wanted: NewServer, words: readonly string[], { cwd, folder }: EntryDeps): NewEntry {
  const [command = "", ...args] = words;
  const isPath = /[/\\]/.test(command);
  const isHere = (word: string): boolean =>
    word !== "" && !word.startsWith("-") && !isAbsolute(word) && existsSync(resolve(cwd, word));
  const needsCwd = cwd !== folder && args.some(isHere);
  const made = plainEntry(wanted, {
    command: isPath ? resolve(cwd, command) : command,
    args,
    ...(needsCwd ? { cwd } : {}),
  });
  return needsCwd ? { ...made, notes: [`it runs in ${cwd}, because its arguments name files there`] } : made;
}

/** Everything of it is in the entry. Throws CONFIG_INVALID where options say something of it as well. */
function wholeEntry({ name = "", env, headers }: NewServer, entry: NewEntry["entry"]): NewEntry {
  if (env.length + headers.length > 0)
    throw new GatewayError("CONFIG_INVALID", "--entry has its variables and headers in it", {
      hint: "Write them into the entry, or leave --entry out.",
    });
  return { name, entry, notes: [], variables: new Map() };
}

function plainEntry(wanted: NewServer, start: Readonly<Record<string, unknown>>): NewEntry {
  const { name = "" } = wanted;
  const isProcess = "command" in start;
  const wrong = isProcess ? wanted.headers[0] : wanted.env[0];
  if (wrong !== undefined)
    throw new GatewayError("CONFIG_INVALID", isProcess ? "--header is for URLs" : "--env is for commands", {
      hint: isProcess
        ? "Give a command its variables with --env NAME=VALUE."
        : "Give a URL its headers with --header NAME=VALUE.",
    });
  const part = isProcess ? "env" : "headers";
  const values = wanted[part].length === 0 ? {} : { [part]: Object.fromEntries(wanted[part]) };
  return { name, entry: { ...start, ...values }, notes: [], variables: new Map() };
}

async function packageEntry(
  wanted: NewServer,
  { registry, name, version }: PackageSource,
  { environment, signal }: EntryDeps,
): Promise<NewEntry> {
  const pinned = version ?? (await newestVersion({ kind: registry, name, env: environment, signal }));
  const start =
    registry === "npm"
      ? { command: "npx", args: ["-y", `${name}@${pinned}`] }
      : { command: "uvx", args: [`${name}@${pinned}`] };
  const made = plainEntry({ ...wanted, name: wanted.name ?? lastPart(name) }, start);
  return { ...made, notes: version === undefined ? [pinnedText(pinned)] : [] };
}

function pinnedText(version: string): string {
  return `pinned to ${version}, the newest version today`;
}

type PackageSource = Extract<EntrySource, { kind: "package" }>;

/** The one package of this name. Rejects with REGISTRY_FAILED where there is none, or one in each registry. */
async function findPackage(
  { name, version }: Extract<EntrySource, { kind: "plain" }>,
  { environment: env, signal }: EntryDeps,
): Promise<PackageSource & { readonly version: string }> {
  const look = async (registry: "npm" | "pypi") => {
    const newest = await newestVersion({ kind: registry, name, env, signal });
    return { kind: "package", registry, name, version: version ?? newest } as const;
  };
  const looked = await Promise.allSettled([look("npm"), look("pypi")]);
  signal.throwIfAborted();
  const [only, other] = looked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  if (only !== undefined && other === undefined) return only;
  throw new GatewayError(
    "REGISTRY_FAILED",
    only === undefined
      ? `neither npm nor PyPI has a package ${JSON.stringify(name)}, and no tested server is called so`
      : `npm and PyPI both have a package ${JSON.stringify(name)}`,
    { hint: only === undefined ? "Check the name and the network." : `Write npm:${name} or pypi:${name}.` },
  );
}

/** With the values that were given in place of references, or asked for; the others stay references. */
async function testedEntry(
  wanted: NewServer,
  { name, entry, takes }: TestedServer,
  deps: EntryDeps,
): Promise<NewEntry> {
  const given = new Map(wanted.env);
  const known = deps.ask === undefined ? {} : await deps.known();
  for (const input of takes)
    if (input.isRequired && !given.has(input.name) && (known[input.name] ?? "") === "") {
      const value = await deps.ask?.(input);
      if (value !== undefined) given.set(input.name, value);
    }
  const { args = [], env } = fillReferences(entry, (variable) => given.get(variable));
  const more = [...given].filter(([variable]) => !takes.some((input) => input.name === variable));
  const [yes = "", item = "", ...others] = args;
  const version = await newestVersion({ kind: "npm", name: item, env: deps.environment, signal: deps.signal });
  const made = plainEntry(
    { ...wanted, name: wanted.name ?? name, env: [...Object.entries(env ?? {}), ...more] },
    { command: entry.command, args: [yes, `${item}@${version}`, ...others] },
  );
  return { ...made, notes: [pinnedText(version)] };
}

async function registryEntry(
  wanted: NewServer,
  { name, version }: Extract<EntrySource, { kind: "registry" }>,
  deps: EntryDeps,
): Promise<NewEntry> {
  const { server, warning } = await findInRegistry({ ...deps, env: deps.environment, name, version });
  const { choices, unusable } = registryChoices(server);
  const choice = chooseWay(choices, wanted.from, deps.environment);
  if (choice === undefined)
    throw new GatewayError(
      "REGISTRY_FAILED",
      `${name} cannot be used${wanted.from === undefined ? "" : ` as ${wanted.from}`}: ${[...unusable, ...(choices.length === 0 ? [] : [`it is offered as ${kindsOf(choices)}`])].join("; ") || "it offers nothing"}`,
      {
        hint: "Look at the server's own page for how it is started, and add it by its command or URL.",
      },
    );
  const key = wanted.name ?? lastPart(name);
  const pairs = [...wanted.env, ...wanted.headers];
  const given = new Map<string, readonly string[]>();
  for (const [input, value] of pairs) given.set(input, [...(given.get(input) ?? []), value]);
  const { entry, inputs } = await fillIn(
    choice,
    {
      ...{ server: key, given, literalSecrets: wanted.literalSecrets },
      known: pairs.length === 0 ? {} : await deps.known(),
    },
    deps.ask,
  );
  const others = choices.filter((other) => other !== choice);
  return {
    name: key,
    entry,
    notes: [
      ...(warning === undefined ? [] : [warning]),
      `${name} ${server.version ?? ""} as ${choice.kind}`.replaceAll("  ", " ") +
        (others.length === 0 ? "" : `; also offered as ${kindsOf(others)} (--from)`),
      ...inputs.unused().map((input) => `nothing of it is called ${input}: that value is not used`),
    ],
    variables: inputs.variables,
  };
}

/** Asks for missing values, where there is a person to ask, until none is left. */
async function fillIn(
  choice: RegistryChoice,
  source: Parameters<typeof createInputs>[0],
  ask: EntryDeps["ask"],
): Promise<{ readonly entry: NewEntry["entry"]; readonly inputs: ReturnType<typeof createInputs> }> {
  const given = new Map(source.given);
  for (;;) {
    const inputs = createInputs({ ...source, given });
    const entry = { ...choice.toEntry(inputs) };
    if (inputs.refused.length > 0)
      throw new GatewayError("CONFIG_INVALID", inputs.refused.join("; "), {
        hint: "Give one of these with --env NAME=VALUE.",
      });
    if (inputs.missing.length === 0) return { entry, inputs };
    if (ask === undefined)
      throw new GatewayError("CONFIG_INVALID", `it needs ${inputs.missing.map(describe).join(", ")}`, {
        hint: `Give ${inputs.missing.length === 1 ? "it" : "them"} with ${inputs.missing.map(({ name }) => `--env ${name}=…`).join(" ")}.`,
      });
    for (const input of inputs.missing) given.set(input.name, [(await ask(input)) ?? ""]);
  }
}

function describe({ name, description, choices }: NeededInput): string {
  const facts = [description, choices === undefined ? "" : `one of ${choices.join(", ")}`].filter(
    (text) => text !== "",
  );
  return facts.length === 0 ? name : `${name} (${facts.join("; ")})`;
}

/** What was asked for; otherwise the first whose program is installed, then a remote one, then the first. */
export function chooseWay(
  choices: readonly RegistryChoice[],
  from: string | undefined,
  environment: EntryDeps["environment"],
): RegistryChoice | undefined {
  if (from !== undefined) return choices.find(({ kind }) => kind === from);
  return (
    choices.find(({ command }) => command !== undefined && findInPath(command, environment) !== undefined) ??
    choices.find(({ command }) => command === undefined) ??
    choices[0]
  );
}

function kindsOf(choices: readonly RegistryChoice[]): string {
  return [...new Set(choices.map(({ kind }) => kind))].join(", ");
}

/** `@scope/server-files` is called `server-files`. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
