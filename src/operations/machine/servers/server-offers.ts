import { registryChoices } from "../../../config/registry/registry-entry.ts";
import { createInputs, type NeededInput } from "../../../config/registry/registry-inputs.ts";
import { findInPath } from "../../../config/words/command-words.ts";
import { readConfig, type Surroundings } from "../surroundings/surroundings.ts";
import { describeEntry } from "./added-server.ts";
import { openEditedConfig } from "./edited-config.ts";
import { testedServers } from "./example-servers.ts";
import { chooseWay, lastPart } from "./new-entry.ts";
import { searchRegistry, type RegistryServer } from "./registry-client.ts";

/** A server that could be added, and what it will need. */
export interface ServerOffer {
  /** By which `servers add` knows it. */
  readonly target: string;
  /** What it would be called. */
  readonly name: string;
  readonly description: string;
  readonly version: string | null;
  /** What will be started or asked, without values. */
  readonly command: string;
  /** The program that has to be installed, and whether it is; null for a server at an address. */
  readonly program: { readonly name: string; readonly isThere: boolean } | null;
  /** Whether it may ask for a login: an address without a header for that. */
  readonly mayAskForLogin: boolean;
  readonly takes: readonly NeededInput[];
  /** Whether the configuration has a server of this name. */
  readonly isConfigured: boolean;
  readonly warning: string | null;
}

/** The servers that were tried with this gateway. */
export async function testedOffers(place: Surroundings): Promise<readonly ServerOffer[]> {
  const taken = await takenNames(place);
  return (await testedServers()).map(({ name, description, entry, takes }) => ({
    ...{ target: name, name, description, version: null, takes, warning: null },
    ...aboutEntry(entry, place),
    isConfigured: taken.has(name),
  }));
}

/** Servers of the registry whose names contain a text. Rejects with REGISTRY_FAILED. */
export async function registryOffers(
  place: Surroundings,
  text: string,
  signal: AbortSignal,
): Promise<readonly ServerOffer[]> {
  const { registryUrl } = (await readConfig(place)).settings;
  const taken = await takenNames(place);
  const found = await searchRegistry({ registryUrl, env: place.env, signal }, text);
  return found.flatMap((one) => toOffer(one, place, taken) ?? []);
}

function toOffer(
  { server, warning }: RegistryServer,
  place: Surroundings,
  taken: ReadonlySet<string>,
): ServerOffer | undefined {
  const choice = chooseWay(registryChoices(server).choices, undefined, place.env);
  if (choice === undefined) return undefined;
  const name = lastPart(server.name);
  const inputs = createInputs({ server: name, given: new Map(), literalSecrets: false });
  const about = aboutEntry(choice.toEntry(inputs), place);
  const { description = "", version = null } = server;
  return {
    ...{ target: server.name, name, description, version, warning: warning ?? null, takes: inputs.offered },
    ...about,
    mayAskForLogin: about.mayAskForLogin && !inputs.offered.some(({ name: header }) => /^authorization$/i.test(header)),
    isConfigured: taken.has(name),
  };
}

async function takenNames(place: Surroundings): Promise<ReadonlySet<string>> {
  return new Set((await openEditedConfig(place)).servers.map(({ key }) => key));
}

function aboutEntry(entry: object, { env }: Surroundings): Pick<ServerOffer, "command" | "program" | "mayAskForLogin"> {
  const members: Readonly<Record<string, unknown>> = { ...entry };
  const { command } = members;
  const isProgram = typeof command === "string";
  return {
    command: describeEntry(members),
    program: isProgram ? { name: command, isThere: findInPath(command, env) !== undefined } : null,
    mayAskForLogin: !isProgram && members["headers"] === undefined,
  };
}
