import { existsSync } from "node:fs";
import { join } from "node:path";
import { isOn } from "../../config/given.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import type { listNodes } from "../../operations/gateway/node-operations.ts";
import type { checkDatabases } from "../../operations/gateway/database-operations.ts";
import {
  broken,
  doubtful,
  type Finding,
  fine,
  type SeenGateway,
} from "../../operations/machine/doctor/doctor-finding.ts";
import { fromTrials } from "../../operations/machine/doctor/doctor-servers.ts";
import { checkClients } from "../../operations/machine/doctor/doctor-clients.ts";
import { examine, type Started, type Tell } from "../../operations/machine/doctor/examination.ts";
import type { showPeopleHealth } from "../../operations/people/account-operations.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { type CommandContext, servedBy } from "../command/command-context.ts";
import { ownersClient, readStatus } from "../gateway/gateway-client.ts";
import { printText } from "../terminal/fitted-text.ts";
import { paintOn } from "../terminal/table.ts";
import { findGateways } from "../gateway/running-gateways.ts";
import { runTrial } from "../servers/try-configured.ts";
import { interrupted, whileWaiting } from "../terminal/waiting-line.ts";
import type { Config } from "../../config/config.ts";
import { openDataDirectory, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { openUnservedStore } from "../gateway/unserved-store.ts";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { isJsonObject, parseJson } from "../../kernel/text/json-bytes.ts";
import { notificationText, requestText } from "../../wire/mcp/envelope.ts";

/** `toolyard doctor`: looks at everything that a gateway needs, and says what to do. 1 when something is broken. */
export async function doctor(context: CommandContext): Promise<number> {
  const found: Finding[] = [];
  const tell: Tell = (...findings) => {
    found.push(...findings);
    if (!isOn(context, "json")) for (const finding of findings) printText(process.stdout, toLine(finding), hanging);
  };
  const signal = interrupted();
  await examine({
    ...{ place: context, tell, signal, during: whileWaiting },
    gateway: async () => await findGateway(context, tell),
    checkClients,
    unserved: async (config) => await checkRecordFiles(context, config),
    start: isOn(context, "start") ? async (started) => await start(context, started, { tell, signal }) : undefined,
  });
  const failed = found.filter(({ kind }) => kind === "fail").length;
  const doubts = found.filter(({ kind }) => kind === "warn").length;
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: failed === 0, findings: found })}\n`);
  else process.stderr.write(`${failed} to fix, ${doubts} to look at.\n`);
  return failed === 0 ? 0 : 1;
}

const styles = { ok: "green", warn: "yellow", fail: "red" } as const;

/** Below the text of a finding, and no deeper than what it is about. */
const hanging = "      ";

function toLine({ kind, what, where, todo }: Finding): string {
  const more = [where, todo].flatMap((line) => (line == null ? [] : [`\n         ${plainText(line)}`]));
  const mark = paintOn(process.stdout)(styles[kind], kind.padEnd(4));
  return ` ${mark}  ${plainText(what)}${more.join("")}`;
}

/** Undefined where a gateway runs: it would be measured with its load. */
async function start(
  context: CommandContext,
  { config, dataDir, isRunning, servers }: Started,
  { tell, signal }: { readonly tell: Tell; readonly signal: AbortSignal },
): Promise<number | undefined> {
  if (isRunning) return undefined;
  if (servers.length > 0) tell(...fromTrials(await runTrial(context, config, servers, dataDir)));
  const measure = async () => await measureStart(context, config, signal);
  const { startMs, finding } = await whileWaiting("Starting `toolyard stdio` once", measure);
  tell(finding);
  return startMs;
}

async function findGateway(context: CommandContext, tell: Tell): Promise<SeenGateway | undefined> {
  try {
    const [holder] = await findGateways(context);
    return holder === undefined ? undefined : asSeen(holder);
  } catch (error) {
    const { code, message, hint } = toGatewayError(error);
    if (code !== "GATEWAY_UNREACHABLE") tell(broken(message, hint));
    else tell(fine("no gateway runs with this configuration"));
    return undefined;
  }
}

function asSeen(holder: GatewayHolder): SeenGateway {
  const gateway = ownersClient(holder);
  return {
    ...{ pid: holder.pid, url: holder.url, version: holder.version },
    status: async () => await readStatus(gateway),
    async people() {
      return await gateway.ask<typeof showPeopleHealth>("GET /api/system/people", {}).catch((error: unknown) => {
        if (toGatewayError(error).code === "CONFIG_INVALID") return undefined;
        throw error;
      });
    },
    async cluster() {
      return await gateway.ask<typeof listNodes>("GET /api/nodes", {}).catch((error: unknown) => {
        if (toGatewayError(error).code === "NO_CLUSTER") return undefined;
        throw error;
      });
    },
    databases: async () => (await gateway.ask<typeof checkDatabases>("GET /api/system/db", {})).databases,
  };
}

/** Whether the databases of a gateway that does not run can be opened. */
async function checkRecordFiles(context: CommandContext, config: Config): Promise<readonly Finding[]> {
  try {
    const place = storeIn(openDataDirectory(config, context), context).lock.placeOf(servedBy(config, context));
    if (!existsSync(join(place, "state.db"))) return [fine("nothing is recorded yet")];
    const opened = await openUnservedStore(context, config);
    // Its holder takes care of it.
    if (!("records" in opened)) return [];
    await using store = opened;
    const { problems } = store.records.health();
    if (problems.length === 0) return [fine("the records can be read and written")];
    return problems.map(({ message, hint }) => broken(message, hint));
  } catch (error) {
    const { message, hint } = toGatewayError(error);
    return [broken(message, hint)];
  }
}

/** Some clients go on without a server that takes longer at their start. */
const fastMs = 1_000;
const mostMs = 60_000;

/** How long a client waits for `toolyard stdio`. */
interface StartSeen {
  /** From the start of the command to its first list of tools; undefined where there was none. */
  readonly startMs: number | undefined;
  readonly finding: Finding;
}

/**
 * Starts `toolyard stdio` once, as a client does where no gateway runs: with a data directory of its own, which is
 * removed afterwards, as is the gateway that it started. No server is started: these wait for the list. Rejects with
 * the signal's reason.
 */
async function measureStart(context: CommandContext, config: Config, signal: AbortSignal): Promise<StartSeen> {
  const dataDir = await mkdtemp(join(tmpdir(), "toolyard-doctor-"));
  const where = ["--data-dir", dataDir, ...(config.file === undefined ? [] : ["--config", config.file])];
  try {
    const startMs = await untilListed(context, where, AbortSignal.any([signal, AbortSignal.timeout(mostMs)]));
    signal.throwIfAborted();
    return { startMs, finding: judge(startMs) };
  } finally {
    await ended(context, ["stop", ...where]);
    await rm(dataDir, { recursive: true, force: true });
  }
}

function judge(startMs: number | undefined): Finding {
  if (startMs === undefined)
    return doubtful("toolyard stdio: it gave no list of tools", "Run it yourself: it reports the problem on stderr.");
  const what = `toolyard stdio: its first list of tools came after ${startMs} ms, the start of a gateway included`;
  if (startMs <= fastMs) return fine(what);
  return doubtful(
    `${what}; some clients leave a server out that takes longer than ${fastMs} ms`,
    "Keep a gateway running (`toolyard service install`), or let the client wait: Codex does with `required = true`.",
  );
}

async function untilListed(
  context: CommandContext,
  where: readonly string[],
  signal: AbortSignal,
): Promise<number | undefined> {
  const startedMs = performance.now();
  const child = startOwn(context, ["stdio", ...where]);
  const stop = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop);
  const ask = (line: string): void => void child.stdin.write(`${line}\n`);
  child.stdin.on("error", () => undefined);
  child.on("error", () => undefined);
  ask(
    requestText(
      1,
      "initialize",
      `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"toolyard-doctor","version":"1"}}`,
    ),
  );
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const id = idOf(line);
      if (id === 2) return Math.round(performance.now() - startedMs);
      if (id !== 1) continue;
      ask(notificationText("notifications/initialized"));
      ask(requestText(2, "tools/list", "{}"));
    }
    return undefined;
  } finally {
    signal.removeEventListener("abort", stop);
    child.stdin.end();
  }
}

/** Stops what was started, as a person would. What does not run any more is none. */
async function ended(context: CommandContext, args: readonly string[]): Promise<void> {
  const child = startOwn(context, args);
  child.stdin.on("error", () => undefined).end();
  child.stdout.resume();
  await new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.on("close", () => resolve());
  });
}

function startOwn({ env, cwd }: CommandContext, args: readonly string[]) {
  return spawn(process.execPath, [process.argv[1] ?? "", ...args], { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
}

function idOf(line: string): unknown {
  const message = parseJson(line);
  return isJsonObject(message) ? message["id"] : undefined;
}
