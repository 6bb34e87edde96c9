import type { Instance } from "../../servers/instance/instance.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { toGatewayError, GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { FailureCode } from "../../kernel/failures/failures.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { toDashboardLink } from "../../kernel/dashboard-link.ts";
import { settingNow } from "../../kernel/runtime/setting-now.ts";
import type { TokenReport } from "../../records/usage/token-report.ts";
import type { GatewayStatus } from "../../records/gateway-status.ts";
import { createAuditHistory, type AuditCheck } from "../../records/audit/audit-history.ts";
import { auditToJson, type AuditJson } from "../../records/audit/audit-json.ts";
import type { AuditFacts } from "../../records/audit/audit-log.ts";
import { readConfigStanding, type ConfigStanding, type ConfigStandingDeps } from "../fronts/config-drift.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { askInstalls, type InstallsAnswer } from "./owner-installs.ts";
import { askPeople, type PeopleAnswer } from "./owner-people.ts";
import { askUpkeep, type UpkeepAnswer } from "./owner-upkeep.ts";
import { readUsage, type UsageReport } from "./owner-usage.ts";

/** What a command is answered with, on one line. */
export interface ControlAnswer {
  readonly ok: boolean;
  /** Of a failure. */
  readonly code?: FailureCode;
  readonly message?: string;
  readonly hint?: string;
  readonly instances?: readonly InstanceLine[];
  /** Of `tokens`. */
  readonly tokens?: TokenReport;
  readonly status?: GatewayStatus;
  /** Of `clients`: the apps that are connected now, by the name that each gives itself. */
  readonly clients?: readonly ConnectedLine[];
  /** Of `audit`: one page, newest first; `next` is the `before` of the next one. */
  readonly audit?: AuditPage;
  /** Of `config`. */
  readonly config?: ConfigStanding;
  /** Of `people`. */
  readonly people?: PeopleAnswer;
  /** Of `link`: path and fragment of a link to the dashboard that works once. */
  readonly link?: string;
  /** Of `installs`. */
  readonly installs?: InstallsAnswer;
  /** Of `upkeep`. */
  readonly upkeep?: UpkeepAnswer;
  readonly usage?: UsageReport;
  /** Of `audit-verify`. */
  readonly check?: AuditCheck;
}

/** How many sessions and streams a program has open. The name is untrusted; null for one that gives none. */
export interface ConnectedLine {
  readonly name: string | null;
  readonly sessions: number;
}

export interface AuditPage {
  readonly entries: readonly AuditJson[];
  readonly next: number | null;
}

/** The members of the command `audit`. */
export interface AuditRequest {
  /** 1 to 1,000. */
  readonly limit: number;
  readonly before?: number | undefined;
  /** Only those behind this place. */
  readonly after?: number | undefined;
  readonly action?: string | undefined;
  /** Set for an export, which is an entry itself. */
  readonly format?: string | undefined;
}

export interface InstanceLine {
  readonly id: string;
  readonly server: string;
  readonly owner: string | null;
  readonly status: string;
  readonly dormant: boolean;
  readonly reason: string;
  readonly tools: number;
  readonly pid: number | null;
}

/** How long `tokens` waits for definitions that are not counted yet. */
const countTokensMs = 10_000;
/** Beside what the server itself may take to start: its turn, and the end of the process before. */
const restartGraceMs = 600_000;

export interface OwnerCommandsDeps extends Pick<ConfigStandingDeps, "load" | "started"> {
  readonly gateway: GatewayParts;
  /** Ends the gateway as SIGTERM does. */
  readonly stop: () => void;
}

/**
 * Carries out one request, `{ command, name?, ... }`. Never rejects: a failure is an answer. The signal aborts when the
 * answer is not awaited any more.
 */
export type OwnerCommands = (request: JsonObject, signal: AbortSignal) => Promise<ControlAnswer>;

export function createOwnerCommands({ gateway, stop, load, started }: OwnerCommandsDeps): OwnerCommands {
  const history = createAuditHistory(gateway);

  async function execute(request: JsonObject, signal: AbortSignal): Promise<ControlAnswer> {
    const { command, name } = request;
    switch (command) {
      case "status":
        return { ok: true, status: await gateway.standing.status({ principal: gateway.owner, isAdmin: true }) };
      case "tokens":
        return { ok: true, tokens: await readTokens(gateway) };
      case "clients":
        return { ok: true, clients: connectedNow(gateway) };
      case "restart": {
        const chosen = choose(String(name));
        for (const { id } of chosen) await order("server.restart", id);
        await restartAll(chosen, signal);
        return { ok: true, instances: chosen.map((instance) => toLine(instance, gateway)) };
      }
      case "usage":
        return { ok: true, usage: await readUsage(gateway, request) };
      case "audit":
        return { ok: true, audit: await readAudit(request as unknown as AuditRequest) };
      case "audit-verify":
        return { ok: true, check: await history.verify() };
      case "config":
        return { ok: true, config: await readConfigStanding({ gateway, load, started }) };
      case "link":
        return { ok: true, link: toDashboardLink(gateway.loginCodes.make()) };
      case "people":
        return { ok: true, people: await askPeople(gateway, request) };
      case "installs":
        return { ok: true, installs: await askInstalls(gateway, request) };
      case "upkeep":
        return { ok: true, upkeep: await askUpkeep(gateway, request, order) };
      case "stop":
        await order("gateway.stop", "");
        stop();
        return { ok: true };
      default:
        throw new GatewayError("REQUEST_INVALID", `there is no command ${String(command).slice(0, 40)}`);
    }
  }

  async function order(action: string, object: string, detail: AuditFacts["detail"] = {}): Promise<void> {
    await gateway.audit.order({ actor: "owner", via: "owner", action, object, detail });
  }

  async function readAudit({ action, before, after, limit, format }: AuditRequest): Promise<AuditPage> {
    if (format !== undefined && before === undefined) await order("audit.export", "", { format });
    const { rows, next } = await history.page({ action, before, after, limit });
    return { entries: rows.map(auditToJson), next };
  }

  async function restartAll(chosen: readonly Instance[], signal: AbortSignal): Promise<void> {
    const { runnerStartMs } = gateway.config().settings.instances;
    const limitMs = runnerStartMs + restartGraceMs;
    const limit = abortAfter(limitMs, signal);
    try {
      await Promise.all(chosen.map(async (instance) => await instance.restart(limit, gateway.owner.id)));
    } catch (error) {
      if (!limit.aborted || signal.aborted) throw error;
      throw new GatewayError("START_TIMEOUT", `it did not come up within ${limitMs / 1_000} s`, {
        hint: `Look at its last output, or raise ${settingNow("instances.runnerStartMs", runnerStartMs)}.`,
      });
    }
  }

  /** An instance by its id, or all of a server. */
  function choose(name: string): readonly Instance[] {
    const chosen = gateway.fleet
      .all()
      .filter((instance) => instance.id === name || instance.server.slug === name || instance.server.key === name);
    if (chosen.length === 0)
      throw new GatewayError("SERVER_UNKNOWN", `there is no server or instance ${name.slice(0, 200)}`, {
        hint: "`toolyard status` lists them.",
      });
    return chosen;
  }

  return async (request, signal) =>
    await execute(request, signal).catch((error: unknown): ControlAnswer => {
      const { code, message, hint } = toGatewayError(error);
      return { ok: false, code, message, hint };
    });
}

function connectedNow(gateway: GatewayParts): readonly ConnectedLine[] {
  const { sessions, sessionlessClients } = gateway.mcp.parts;
  const names = [...[...sessions.all()].map(({ clientName }) => clientName), ...sessionlessClients.connected()];
  const counts = new Map<string | null, number>();
  for (const name of names) counts.set(name ?? null, (counts.get(name ?? null) ?? 0) + 1);
  return [...counts].map(([name, open]) => ({ name, sessions: open }));
}

async function readTokens({ usage, owner }: GatewayParts): Promise<TokenReport> {
  return await usage.tokens({ principal: owner, exposure: undefined, of: undefined, waitMs: countTokensMs });
}

function toLine(instance: Instance, { toolCount }: Pick<GatewayParts, "toolCount">): InstanceLine {
  const { status, dormant, reason } = instance.statusView();
  return {
    id: instance.id,
    server: instance.server.slug,
    owner: instance.owner,
    status,
    dormant,
    reason,
    tools: toolCount(instance),
    pid: instance.pid ?? null,
  };
}
