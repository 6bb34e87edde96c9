import { toLocalOrigin, toUrl } from "../../../kernel/text/host-addresses.ts";
import type { Config } from "../../../config/config.ts";
import { follow } from "../../../config/file/file.ts";
import type { ClientRow } from "../../../config/clients/table/client-row.ts";
import type { OwnWay } from "../../../config/clients/connect/own-entry.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { dataDirectoryOf, type Surroundings } from "../surroundings/surroundings.ts";
import { checkToken } from "./connection-token.ts";
import { askEndpoint } from "../surroundings/asked-endpoint.ts";
import { logsPeopleIn, findOwnGateways } from "../surroundings/local-gateways.ts";
import { ownCommandFor } from "../surroundings/own-command.ts";

/** What somebody should know of a connection. */
export interface ConnectionNote {
  readonly text: string;
  /** What to type about it: for terminals only, because a page has a field for the same. */
  readonly command?: string;
}

/** How the client should reach the gateway, as far as that is asked for. */
export interface WayAsk {
  readonly url?: string | undefined;
  readonly isStdio?: boolean | undefined;
  /** The profile that the client is to have. */
  readonly profile?: string | undefined;
  readonly token?: string | undefined;
}

/** How a client is to reach the gateway, and what its user should know of that. */
export interface ChosenWay {
  readonly way: OwnWay;
  readonly notes: readonly ConnectionNote[];
  /** Whether the client needs a token. Over stdio it does not: the command is run by the owner. */
  readonly needsToken: boolean;
  /** Whether people log in to the gateway with their browser: a client then needs nothing but the address. */
  readonly isLogin: boolean;
}

/** Addresses of this user's gateways, running or configured: what tells an entry that is ours already. */
export async function ownOrigins(
  place: Surroundings,
  { settings: { publicUrl } }: Config,
  given: string | undefined,
): Promise<readonly string[]> {
  const { origins } = await findOwnGateways(place);
  const others = [publicUrl, given];
  return [...origins, ...others.flatMap((url) => (url !== undefined && URL.canParse(url) ? [toLocalOrigin(url)] : []))];
}

/**
 * Where the gateway with this configuration listens, or would; undefined for a port that the system chooses. One that
 * runs may have been given another port than the settings have.
 */
async function gatewayUrl(place: Surroundings, config: Config): Promise<FoundUrl | undefined> {
  const configured = configuredUrl(config);
  if (config.settings.publicUrl !== undefined) return configured === undefined ? undefined : { url: configured };
  const file = config.file === undefined ? null : await follow(config.file);
  const { running } = await findOwnGateways(place);
  const own = running.filter(({ url, serves }) => url !== null && serves.configFile === file);
  const origins = own.map(({ url }) => toLocalOrigin(url ?? ""));
  if (configured !== undefined && origins.includes(configured)) return { url: configured };
  const [only, another] = own;
  // It is unclear which of several is meant.
  if (only === undefined || another !== undefined) return configured === undefined ? undefined : { url: configured };
  const [url = ""] = origins;
  return only.isPortChosen ? undefined : { url, configured };
}

interface FoundUrl {
  readonly url: string;
  /** What the settings say, where the gateway listens elsewhere. */
  readonly configured?: string | undefined;
}

/** The address in the settings; undefined for a port that the system chooses. */
function configuredUrl({ settings: { host, port, publicUrl } }: Config): string | undefined {
  if (publicUrl !== undefined) return publicUrl;
  return port === 0 ? undefined : toLocalOrigin(toUrl(host, port));
}

/**
 * HTTP where the client can and the address lasts, `toolyard stdio` otherwise. Rejects with CONFIG_INVALID when the
 * requested way is impossible.
 */
export async function chooseWay(
  place: Surroundings,
  config: Config,
  row: ClientRow,
  asked: WayAsk,
): Promise<ChosenWay> {
  const { url: given, isStdio = false, profile } = asked;
  if (profile !== undefined) checkProfile(config, profile, given);
  const toStdio = (...notes: readonly ConnectionNote[]): ChosenWay =>
    stdioWay(place, { config, row, profile, isTokenGiven: asked.token !== undefined }, notes);
  if (isStdio) {
    if (given !== undefined) throw wrong("--stdio and --url say opposite things", "Give one of them.");
    return toStdio();
  }
  if (row.http === undefined) {
    if (given !== undefined)
      throw wrong(`${row.label} starts commands only: it cannot be given an address`, "Leave --url out.");
    return toStdio({ text: `${row.label} starts commands only, so that it gets \`toolyard stdio\`.` });
  }
  const found = given === undefined ? await gatewayUrl(place, config) : { url: given };
  if (found === undefined)
    return toStdio({
      text: "The gateway's port is chosen at each start, so that the client starts a command instead.",
    });
  const { url, configured } = found;
  const isOpen = config.people.principals.size === 0 && config.settings.auth.tokenHashes.length === 0;
  const token = checkToken(asked.token);
  const way = { kind: "url", url: given === undefined ? `${url}${pathOf(profile)}` : toEndpoint(given) } as const;
  if (await logsPeopleIn(way.url, place.env)) return { way, notes: [], needsToken: token !== undefined, isLogin: true };
  const isAsked = given !== undefined && (isOpen || token !== undefined);
  const notes = given === undefined ? await whatListens(place, config, url) : [];
  if (isAsked) notes.push(...(await whatAnswers(place, way.url, token)));
  if (configured !== undefined) notes.push({ text: elsewhereText(url, configured) });
  return { way, notes, needsToken: !isOpen || token !== undefined, isLogin: false };
}

/**
 * What answers at an address that was given, with the token that the client will send. Rejects with CONFIG_INVALID
 * where that is refused: the client would be connected to nothing.
 */
async function whatAnswers({ env }: Surroundings, url: string, token: string | undefined): Promise<ConnectionNote[]> {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const answer = await askEndpoint({ url, authorization, signal: new AbortController().signal, env });
  switch (answer.kind) {
    case "toolyard":
      return [];
    case "refused":
      throw token === undefined
        ? wrong(`the gateway at ${url} requires a token`, "Give it in TOOLYARD_TOKEN, or with --token.")
        : wrong(`the gateway at ${url} does not accept this token`, "Give another in TOOLYARD_TOKEN, or with --token.");
    case "missing":
      return [{ text: `The gateway has no endpoint at ${url}.` }];
    case "silent":
      return [{ text: `Nothing answers at ${url} now (${answer.why}).` }];
    case "other":
      return [{ text: `What answers at ${url} is not Toolyard (${answer.why}).` }];
  }
}

/** Throws CONFIG_INVALID for a profile that is not in this configuration, or where an address says which one. */
function checkProfile({ settings: { profiles } }: Config, profile: string, url: string | undefined): void {
  const names = Object.keys(profiles);
  if (url !== undefined)
    throw wrong("--profile and --url say the same thing", "Give the address with the profile's path: …/mcp/p/NAME.");
  if (!names.includes(profile))
    throw wrong(
      `there is no profile ${JSON.stringify(profile)} in the configuration`,
      names.length === 0 ? "`toolyard.profiles` has them (docs/profiles.md)." : `There are: ${names.join(", ")}.`,
    );
}

function pathOf(profile: string | undefined): string {
  return profile === undefined ? "/mcp" : `/mcp/p/${profile}`;
}

function elsewhereText(url: string, configured: string): string {
  return `The gateway listens at ${url}, and the settings say ${configured}: give it that port at each start, or set it there.`;
}

/** With the path of the default exposure, unless a path is given. */
function toEndpoint(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw wrong(
      `--url: expected an http(s) address, not ${JSON.stringify(url)}`,
      "Write it as http://127.0.0.1:3001/mcp.",
    );
  return /^https?:\/\/[^/?#]+\/?(?=$|[?#])/.test(url) ? url.replace(/^([^?#]+?)\/?(?=$|[?#])/, "$1/mcp") : url;
}

/** An address at which nothing listens is the most frequent reason why a client says that it cannot connect. */
async function whatListens(place: Surroundings, config: Config, url: string): Promise<ConnectionNote[]> {
  if (config.settings.publicUrl !== undefined) return [];
  const { running } = await findOwnGateways(place);
  const isThere = running.some((holder) => holder.url !== null && toLocalOrigin(holder.url) === toLocalOrigin(url));
  return isThere
    ? []
    : [
        {
          text: `No gateway listens at ${url} now.`,
          command: "Run `toolyard serve`, or connect with --stdio, so that the client starts it.",
        },
      ];
}

interface StdioFacts {
  readonly config: Config;
  readonly row: ClientRow;
  readonly profile: string | undefined;
  readonly isTokenGiven: boolean;
}

function stdioWay(
  place: Surroundings,
  { config, row, profile, isTokenGiven }: StdioFacts,
  notes: readonly ConnectionNote[],
): ChosenWay {
  const own = ownCommandFor(place, row.isTerminal === true);
  // A client starts the command in a folder of its own, where nothing would be found.
  const file = config.file === undefined ? [] : ["--config", config.file];
  const shown = profile === undefined ? [] : ["--profile", profile];
  const dataDir = dataDirectoryOf(config, place);
  const data = dataDir === place.homeDirectories.data ? [] : ["--data-dir", dataDir];
  const temporary = own.isTemporary
    ? [
        {
          text: "This program runs from npm's cache, which is cleaned up from time to time: install it, and connect again.",
        },
      ]
    : [];
  const unused = isTokenGiven ? [{ text: "A command needs no token: the one that you gave is not written." }] : [];
  return {
    way: { kind: "command", command: own.command, args: [...own.args, "stdio", ...shown, ...file, ...data] },
    notes: [...notes, ...temporary, ...unused],
    needsToken: false,
    isLogin: false,
  };
}

function wrong(message: string, hint: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", message, { hint });
}
