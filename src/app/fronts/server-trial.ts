import type { KeySource } from "../../config/key-source.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config, ServerConfig } from "../../config/config.ts";
import { switchedOff } from "../../config/entry/servers.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { statusWord } from "../../kernel/status-words.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import { createRedaction, joinSecrets } from "../../records/redaction/redaction.ts";
import { nextStep } from "../../records/server-standing.ts";
import { buildGateway, type Gateway } from "../gateway.ts";
import type { Overview, ServerOverview } from "../records/status-report.ts";
import type { ServerTrial } from "../../operations/machine/servers/trial-result.ts";
import { withoutStderrSummary } from "../../servers/instance/starts/closed-cause.ts";
import { openStore } from "../../store/files/file-store.ts";

export interface TrialOptions {
  readonly dataDir: string;
  readonly vaultKey: KeySource;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly signal: AbortSignal;
  /** How long all of them together may take. */
  readonly limitMs: number;
}

/** Upper bound for a graceful stop. */
const stopMs = 10_000;

/**
 * Starts servers apart from any running gateway, with the same parts as a gateway has, and stops them again: handshake
 * and list of tools. Nothing is recorded or learned. Their logins are used; a server that is only switched off is tried
 * all the same. Texts are without secrets.
 */
export async function tryServers(
  config: Config,
  servers: readonly ServerConfig[],
  options: TrialOptions,
): Promise<readonly ServerTrial[]> {
  const place = await mkdtemp(join(tmpdir(), "toolyard-trial-"));
  const trial = trialConfig(config, servers);
  const limit = abortAfter(options.limitMs, options.signal);
  const store = openStore({ dataDir: options.dataDir, vaultKey: options.vaultKey });
  const gateway = buildGateway(trial, { ...options, log: silentLog, clock: systemClock, store, place });
  try {
    await gateway.apply(trial);
    const beganMs = systemClock.monotonic();
    gateway.letServersStart();
    const instances = gateway.instances();
    const durations = await Promise.all(
      instances.map(async (instance) => {
        await instance.settled(limit);
        return Math.round(systemClock.monotonic() - beganMs);
      }),
    );
    options.signal.throwIfAborted();
    const overview = await gateway.overview();
    const redact = createRedaction({
      secrets: joinSecrets(
        createConfigSecrets(() => trial),
        gateway.secrets,
      ),
    }).said;
    return instances.map((instance, at) => ({
      ...toTrial(instance, overview, redact),
      durationMs: durations[at] ?? 0,
    }));
  } finally {
    await gateway.stop(abortAfter(stopMs));
    await rm(place, { recursive: true, force: true });
  }
}

/** One shared instance of each server, without an owner, and nothing that a trial should not leave behind. */
function trialConfig(config: Config, servers: readonly ServerConfig[]): Config {
  const { settings } = config;
  return {
    ...config,
    servers: servers.map((server) => ({
      ...server,
      scope: "shared",
      disabledReason: server.disabledReason === switchedOff ? undefined : server.disabledReason,
    })),
    people: { principals: new Map(), teams: new Map() },
    settings: {
      ...settings,
      // People of the database would be waited for, and a trial opens no database.
      team: false,
      records: { ...settings.records, store: "off", audit: "off" },
      search: { ...settings.search, learn: false, embeddings: undefined, enrich: undefined },
      events: { ...settings.events, webhooks: [] },
      namespaces: { ...settings.namespaces, preload: [] },
    },
  };
}

function toTrial(
  instance: ReturnType<Gateway["instances"]>[number],
  { servers }: Overview,
  redact: (text: string) => string,
): Omit<ServerTrial, "durationMs"> {
  const { server, connection, state } = instance;
  const { status, step, reason } = instance.statusView();
  const seen: ServerOverview | undefined = servers.find(({ slug }) => slug === server.slug);
  const isUsable = status === "online";
  const cause: GatewayError | undefined = "cause" in state ? state.cause : undefined;
  // One that was started again said the same again.
  const output = instance.stderr.filter((line, at, lines) => lines.lastIndexOf(line) === at);
  return {
    key: server.key,
    isUsable,
    status,
    // A gateway would try again; this was the only try.
    word: state.kind === "backoff" ? "cannot start" : statusWord({ status, dormant: false, step }),
    reason: redact(output.length === 0 ? reason : withoutStderrSummary(reason)),
    code: isUsable ? null : (cause?.code ?? null),
    hint: isUsable || cause === undefined ? null : redact(cause.hint),
    next: nextStep(instance),
    name: connection === undefined ? null : redact(nameOf(connection.peer.serverInfo)),
    server: connection === undefined ? null : aboutItself(connection.peer.serverInfo, redact),
    revision: connection?.peer.revision ?? null,
    eras: connection?.peer.eras ?? [],
    offers: seen?.offers ?? null,
    tools: (seen?.tools ?? []).map((tool) => ({ ...tool, description: redact(tool.description) })),
    tokens: seen?.tokens ?? 0,
    output: output.map(redact),
  };
}

function aboutItself(info: Readonly<Record<string, unknown>>, redact: (text: string) => string): ServerTrial["server"] {
  const told = (name: string): string | null => {
    const value = info[name];
    return typeof value === "string" ? redact(value) : null;
  };
  return { name: told("name"), title: told("title"), version: told("version") };
}

function nameOf({ name, version }: Readonly<Record<string, unknown>>): string {
  return [name, version].filter((part) => typeof part === "string").join(" ");
}

/** The trial reports its result; the log is for gateways that run. */
const silent = (): void => undefined;
const silentLog: Log = Object.freeze({ debug: silent, info: silent, warn: silent, error: silent });
