import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { ImportedEntry } from "../../../config/clients/connect/client-entry.ts";
import type { ClientRow } from "../../../config/clients/table/client-row.ts";
import type { FoundClient, FoundFile, FoundServer } from "../../../config/clients/import/read-clients.ts";
import { toLocalOrigin } from "../../../kernel/text/host-addresses.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { proxyBefore } from "../../../wire/http/proxy-variables.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";
import { isExecutable, findInPath } from "../../../config/words/command-words.ts";
import { askEndpoint, type EndpointAnswer } from "../surroundings/asked-endpoint.ts";
import { broken, doubtful, fine, type Finding } from "./doctor-finding.ts";
import { hidingFindings, type HidingAsk } from "./doctor-hiding.ts";
import { findClients } from "../clients/client-lines.ts";
import { findOwnGateways } from "../surroundings/local-gateways.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";

/** What an entry of a client's file is judged by. */
interface Judged {
  readonly row: ClientRow;
  readonly file: FoundFile;
  readonly server: FoundServer;
  /** As every finding begins: the client, and the file. */
  readonly who: string;
  /** What writes the entry again. */
  readonly again: string;
}

/** Where gateways of this user listen: with this configuration, and all of them. */
interface Origins {
  readonly here: string | undefined;
  readonly all: readonly string[];
}

/**
 * Looks at the file of every AI client of this user: whether it can be read, whether it names this gateway, and
 * whether what it says of it is right, and lets its model see our tools. A client that is not connected is no problem;
 * one that cannot be is.
 */
export async function checkClients(asked: ClientsAsk): Promise<readonly Finding[]> {
  const { place, url: own } = asked;
  const { running } = await findOwnGateways(place);
  const origins = {
    here: own === null ? undefined : toLocalOrigin(own),
    all: running.flatMap(({ url }) => (url === null ? [] : [toLocalOrigin(url)])),
  };
  const clients = await findClients(place);
  const looking = { ...asked, origins };
  const found = await Promise.all(clients.map(async (client) => await checkClient(client, looking)));
  return [...found.flat(), ...caughtByProxy(clients, place.env)];
}

/** The clients to check, and the means to do so. */
export interface ClientsAsk {
  readonly place: Surroundings;
  /** Where the gateway that runs with this configuration listens. */
  readonly url: string | null;
  /** Whether tokens are tried. A person with a token has servers of their own started. */
  readonly triesTokens: boolean;
  readonly signal: AbortSignal;
  readonly measured: Pick<HidingAsk, "longestCallMs" | "startMs">;
}

/** Clients read these variables in ways of their own: not all of them leave this machine's addresses alone. */
function caughtByProxy(clients: readonly FoundClient[], env: Surroundings["env"]): readonly Finding[] {
  const entries = clients.flatMap(({ files }) => files.flatMap(({ servers }) => servers));
  const addresses = entries.flatMap(({ gateway, entry: { url } }) =>
    gateway?.isOurs === true && url !== undefined && URL.canParse(url) ? [new URL(url)] : [],
  );
  const caught = addresses.find((url) => proxyBefore(url, env) !== undefined);
  const name = caught === undefined ? undefined : proxyBefore(caught, env);
  if (caught === undefined || name === undefined) return [];
  const what = `${name} names a proxy, and NO_PROXY does not leave ${caught.hostname} out: clients may ask the proxy for the gateway`;
  return [
    { ...doubtful(what, "Add `127.0.0.1,localhost,::1` to NO_PROXY, where the clients are started."), where: name },
  ];
}

interface Looking extends Omit<ClientsAsk, "url"> {
  readonly origins: Origins;
}

async function checkClient({ row, files: all }: FoundClient, looking: Looking): Promise<readonly Finding[]> {
  // In the home directory, a project's file is the user's as well.
  const files = all.filter(({ realPath }, index) => all.findIndex((file) => file.realPath === realPath) === index);
  const problems = [...new Set(files.flatMap((file) => file.problems))];
  const told = problems.map((problem) =>
    doubtful(`${row.label}: ${plainText(problem)}`, "Correct it there: the client may not be able to read it either."),
  );
  const ours = files.flatMap((file) =>
    file.servers.filter(({ gateway }) => gateway?.isOurs === true).map((server) => ({ file, server })),
  );
  if (ours.length === 0) {
    const readable = problems.length === 0 ? [fine(`${row.label}: not connected to a gateway of this machine`)] : [];
    return [...told, ...readable];
  }
  const checked = await Promise.all(
    ours.map(async ({ file, server }) => {
      const who = `${row.label}, ${plainText(server.name)} in ${plainText(file.path)}`;
      const scope = file.scope === "user" ? "" : ` --scope ${file.scope}`;
      const again = `Run \`toolyard connect ${row.id}${scope}\`, which writes it again.`;
      return await checkEntry({ row, file, server, who, again }, looking);
    }),
  );
  return [...told, ...checked.flat()];
}

async function checkEntry(judged: Judged, looking: Looking): Promise<readonly Finding[]> {
  const { entry } = judged.server;
  if (entry.enabled === false) return [switchedOff(judged)];
  const address = addressOf(entry);
  const found = address === undefined ? await checkCommand(judged, looking) : await checkUrl(judged, address, looking);
  const open = await checkMode(judged, tokenOf(entry));
  return [found, ...(open === undefined ? [] : [open]), ...hidingFindings({ ...judged, ...looking.measured })];
}

function switchedOff({ who, row, server, file }: Judged): Finding {
  const written = isJsonObject(server.written) ? server.written : {};
  const field = ["enabled", "disabled"].find((name) => written[name] !== undefined);
  const found = doubtful(`${who}: switched off`, `Switch it on in ${row.label}, or take it out.`);
  if (field === undefined) return found;
  return { ...found, where: plainText(`${file.path}: ${[...(server.keyPath ?? []), field].join(".")}`) };
}

/** Its own, or that of a program like `mcp-remote` in between. */
function addressOf({ url, args = [] }: ImportedEntry): string | undefined {
  return [url, ...args].find((text) => text !== undefined && /^https?:\/\//.test(text) && URL.canParse(text));
}

/** What the client sends as `Authorization`; undefined where it sends none. */
function tokenOf({ headers = {}, args = [] }: ImportedEntry): string | undefined {
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === "authorization")?.[1];
  const typed = args.find((text) => /^authorization:/i.test(text));
  return named ?? typed?.replace(/^authorization:\s*/i, "");
}

/** Where the value is not in the file but a variable, it is the client that knows it. */
function isVariable(text: string): boolean {
  return text.includes("${");
}

async function checkMode({ file, who }: Judged, token: string | undefined): Promise<Finding | undefined> {
  if (token === undefined || isVariable(token) || process.platform === "win32") return undefined;
  const found = await stat(file.realPath).catch(() => undefined);
  if (found === undefined || (found.mode & 0o077) === 0) return undefined;
  const what = `${who}: it has a token in it, and others on this machine can read the file`;
  return doubtful(what, `Run \`chmod 600 ${plainText(file.realPath)}\`.`);
}

async function checkUrl(judged: Judged, address: string, looking: Looking): Promise<Finding> {
  const { place, origins, signal, triesTokens } = looking;
  const { entry } = judged.server;
  const { env } = place;
  const token = tokenOf(entry);
  const isTried = token !== undefined && !isVariable(token) && triesTokens;
  const sent = isTried ? token : undefined;
  // The older transport has two addresses, of which none can be asked for anything by one request.
  const url = entry.type === "sse" ? new URL("/mcp", address).href : address;
  const answer = await askEndpoint({ url, authorization: sent, signal, env });
  const isHere = origins.here === toLocalOrigin(address);
  const isElsewhere = origins.all.includes(toLocalOrigin(address));
  return judgeAnswer(judged, { answer, address, isHere, isElsewhere, token, isTried });
}

interface Answered {
  readonly answer: EndpointAnswer;
  readonly address: string;
  readonly isHere: boolean;
  readonly isElsewhere: boolean;
  readonly token: string | undefined;
  readonly isTried: boolean;
}

function judgeAnswer({ who, again, row }: Judged, answered: Answered): Finding {
  const { answer, address, isHere, isElsewhere, token, isTried } = answered;
  const where = plainText(address);
  switch (answer.kind) {
    case "toolyard":
      if (isHere) return fine(`${who}: ${where} is this gateway`);
      return isElsewhere
        ? doubtful(`${who}: ${where} is a gateway with another configuration`, `${again} Or leave it as it is.`)
        : fine(`${who}: ${where} is a gateway`);
    case "refused": {
      if (token === undefined) return broken(`${who}: the gateway requires a token, and it sends none`, again);
      if (isVariable(token)) return fine(`${who}: ${where} answers; its token is a variable, and was not tried`);
      if (!isTried) return fine(`${who}: ${where} answers; its token was not tried`);
      return broken(`${who}: the gateway does not accept its token`, again);
    }
    case "silent":
      return doubtful(
        `${who}: nothing answers at ${where} (${answer.why})`,
        `Run \`toolyard serve\`, or \`toolyard connect ${row.id} --stdio\`, so that the client starts it.`,
      );
    case "missing":
      return broken(`${who}: the gateway has no endpoint at ${where}`, again);
    case "other":
      return broken(`${who}: what answers at ${where} is not Toolyard (${answer.why})`, again);
  }
}

async function checkCommand({ server, who, again }: Judged, { place }: Looking): Promise<Finding> {
  const { command = "", args = [] } = server.entry;
  const isThere = isAbsolute(command) ? isExecutable(command) : findInPath(command, place.env) !== undefined;
  const shown = plainText(command);
  if (!isThere) {
    const what = isAbsolute(command) ? "is not there, or may not be run" : "was not found in PATH";
    return broken(`${who}: its command ${shown} ${what}`, again);
  }
  const config = args[args.indexOf("--config") + 1];
  const needed = [
    ...args.filter((word) => isAbsolute(word) && /[/\\]dist[/\\]cli[/\\]main\.js$/.test(word)),
    ...(args.includes("--config") && config !== undefined && isAbsolute(config) ? [config] : []),
  ];
  for (const path of needed)
    if ((await stat(path).catch(() => undefined)) === undefined)
      return broken(`${who}: ${plainText(path)}, which its command needs, is not there`, again);
  const temporary = [command, ...args].find((word) => /[/\\]_npx[/\\]/.test(word));
  if (temporary !== undefined)
    return doubtful(
      `${who}: its command is in npm's cache, which is cleaned up from time to time`,
      "Install Toolyard, and run `toolyard connect` again.",
    );
  return fine(`${who}: its command ${[shown, ...args.map(plainText)].join(" ")} is there`);
}
