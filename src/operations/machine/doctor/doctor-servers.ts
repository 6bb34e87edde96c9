import { toReason } from "../../../wire/http/plain-request.ts";
import { execFile } from "node:child_process";
import { isAbsolute } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { type ServerTrial, toAdvice } from "../servers/trial-result.ts";
import type { ServerConfig } from "../../../config/config.ts";
import { switchedOff } from "../../../config/entry/servers.ts";
import { missingIn } from "../../../config/file/substitution.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import { countText } from "../../../kernel/text/number-text.ts";
import { isComing, withReason } from "../../../kernel/status-words.ts";
import type { ServerStatus } from "../../../records/gateway-status.ts";
import { plainText, shorten } from "../../../kernel/text/plain-text.ts";
import { findInPath, isExecutable } from "../../../config/words/command-words.ts";
import { broken, doubtful, fine, type Finding } from "./doctor-finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the programs that run most servers come from. */
const origins: Readonly<Record<string, string>> = {
  npx: "Install Node with npm (https://nodejs.org).",
  uvx: "Install uv (https://docs.astral.sh/uv).",
  uv: "Install uv (https://docs.astral.sh/uv).",
  docker: "Install Docker (https://docs.docker.com/get-docker).",
  dnx: "Install the .NET SDK 10 or newer (https://dotnet.microsoft.com).",
  node: "Install Node (https://nodejs.org).",
  python3: "Install Python (https://www.python.org).",
  python: "Install Python (https://www.python.org).",
};

/** Servers that are not used although they are not switched off: a variable is missing, the entry is wrong. */
export function checkEntries(servers: readonly ServerConfig[]): readonly Finding[] {
  return servers.flatMap(({ key, disabledReason }) => {
    if (disabledReason === undefined || disabledReason === switchedOff) return [];
    const variable = missingIn(disabledReason);
    const todo =
      variable === undefined
        ? "Correct its entry."
        : `Run \`toolyard config keep ${variable}\`, or set it in the environment in which the gateway is started.`;
    return [broken(`${plainText(key)}: ${plainText(disabledReason)}`, todo)];
  });
}

/** Of servers, with the keys of those that cannot work because of it: nothing more has to be said about them. */
export interface ServersFinding {
  readonly finding: Finding;
  readonly broken: readonly string[];
}

/** Each program once: whether it is there, and its version where it is one that runs many servers. */
export async function checkCommands(
  servers: readonly ServerConfig[],
  env: Environment,
): Promise<readonly ServersFinding[]> {
  const commands = new Map<string, { readonly path: string | undefined; readonly keys: string[] }>();
  for (const { key, transport } of servers) {
    if (!hasProcess(transport)) continue;
    const { command } = transport;
    const path = transport.env["PATH"] ?? env["PATH"];
    const known = commands.get(`${command}\0${path ?? ""}`);
    if (known !== undefined) {
      known.keys.push(key);
      continue;
    }
    // The folders of PATH are looked through at once: other work gets its turn in between.
    await setImmediate();
    commands.set(`${command}\0${path ?? ""}`, { path: locate(command, { ...env, PATH: path }), keys: [key] });
  }
  return await Promise.all(
    [...commands].map(async ([id, { path, keys }]) => {
      const command = id.slice(0, id.indexOf("\0"));
      if (path !== undefined) return { finding: fine(`command ${await withVersion(command, path, env)}`), broken: [] };
      const who = plainText(keys.join(", "));
      const todo = origins[command] ?? `Install it, or run \`toolyard servers remove ${plainText(keys[0] ?? "")}\`.`;
      const where = isAbsolute(command) ? "is not there, or may not be run" : "was not found in PATH";
      return { finding: broken(`${who}: command ${plainText(command)} ${where}`, todo), broken: keys };
    }),
  );
}

function locate(command: string, env: Environment): string | undefined {
  if (isAbsolute(command)) return isExecutable(command) ? command : undefined;
  return findInPath(command, env);
}

/** A program that takes longer to say its version is not asked. */
const versionMs = 10_000;

/** Only of programs that are known to understand `--version`: a server might start instead. */
async function withVersion(command: string, path: string, env: Environment): Promise<string> {
  if (!Object.hasOwn(origins, command)) return plainText(command);
  const options = { env: { ...env }, timeout: versionMs, shell: process.platform === "win32" };
  const { stdout } = await promisify(execFile)(path, ["--version"], options).catch(() => ({ stdout: "" }));
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0];
  return version === undefined ? command : `${command} ${version}`;
}

/** What a server's address answered. */
export interface SeenAddress extends ServersFinding {
  readonly date: string | null;
  readonly atMs: number;
}

const addressMs = 10_000;

/** Whether anything answers there; what it answers does not matter, because this is no MCP request. */
export async function checkAddress(
  { key, transport }: ServerConfig,
  signal: AbortSignal,
): Promise<SeenAddress | undefined> {
  if (hasProcess(transport) || typeof transport.proxy === "string" || transport.tls !== undefined) return undefined;
  const { origin } = new URL(transport.url);
  try {
    const date = await askDate(origin, AbortSignal.any([signal, AbortSignal.timeout(addressMs)]));
    return { finding: fine(`${plainText(key)}: ${origin} answers`), broken: [], date, atMs: Date.now() };
  } catch (error) {
    signal.throwIfAborted();
    const what = `${plainText(key)}: ${origin} does not answer (${toReason(error)})`;
    const finding = broken(what, "Check the URL and the network.");
    return { finding, broken: [key], date: null, atMs: Date.now() };
  }
}

/** The `Date` of any answer. Not by fetch, which refuses some ports that servers may have. */
async function askDate(origin: string, signal: AbortSignal): Promise<string | null> {
  const { request } = origin.startsWith("https:") ? await import("node:https") : await import("node:http");
  return await new Promise((resolve, reject) => {
    const asked = request(origin, { method: "HEAD", signal, agent: false }, (response) => {
      response.resume();
      resolve(response.headers.date ?? null);
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** Servers as the running gateway has them, without those that are down for a reason that was told. */
export function fromStatus(servers: readonly ServerStatus[], told: ReadonlySet<string>): readonly Finding[] {
  const untold = servers.filter(({ server, status, reason }) =>
    // Those that cannot be used were told with their entries.
    status === "disabled" ? reason === switchedOff : status === "online" || !told.has(server),
  );
  return untold.map(({ instance, word, status, dormant, tools, reason, next }) => {
    const name = plainText(instance);
    if (status === "online")
      return fine(`${name}: ${dormant ? `${word}, a call starts it` : word}, ${toolCount(tools)}`);
    if (status === "disabled") return fine(`${name}: ${word}`);
    const what = `${name}: ${withReason(word, shorten(plainText(reason), 200))}`;
    if (isComing(status)) return doubtful(what, "Wait, and look again.");
    return broken(
      what,
      next?.command === undefined || next.command === null
        ? (next?.text ?? "Look at its log.")
        : `Run \`${next.command}\`.`,
    );
  });
}

/** Servers as they were when they were tried. */
export function fromTrials(trials: readonly ServerTrial[]): readonly Finding[] {
  return trials.map((trial) => {
    const name = plainText(trial.key);
    if (trial.isUsable) return fine(`${name}: it answers, ${toolCount(trial.tools.length)}`);
    const last = trial.output.at(-1);
    const output = last === undefined ? "" : ` (last output: ${shorten(plainText(last).trim(), 120)})`;
    const what = `${name}: ${withReason(trial.word, shorten(plainText(trial.reason), 200))}${output}`;
    return broken(what, toAdvice(trial) ?? "Look at its own documentation.");
  });
}

function toolCount(tools: number): string {
  return `${countText(tools)} tool${tools === 1 ? "" : "s"}`;
}
