import { existsSync } from "node:fs";
import { join } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toCheck, type AuditCheck, auditToJson, type AuditJson } from "../../records/audit/audit-history.ts";
import type { listAudit, verifyAudit } from "../../operations/records/audit-operations.ts";
import { openDataDirectory, readConfig, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { servedBy, type CommandContext } from "../command/command-context.ts";
import { textOption } from "../../config/given.ts";
import { openGatewayClient, ownersClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { openUnservedStore } from "../gateway/unserved-store.ts";

/** What is asked of the audit. */
export interface AuditRequest {
  /** 1 to 1,000. */
  readonly limit: number;
  readonly before?: number | undefined;
  /** Only those behind this place. */
  readonly after?: number | undefined;
  readonly action?: string | undefined;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditJson[];
  readonly next: number | null;
}

/** Where a command reads the audit: from the gateway that runs, or from its files while none does. */
export interface AuditSource extends AsyncDisposable {
  /** Whether entries come while it is read. */
  readonly isLive: boolean;
  page(request: AuditRequest): Promise<AuditPage>;
  verify(): Promise<AuditCheck>;
  /** All entries, newest first. A gateway writes into the audit that it was exported. */
  exported(action: string | undefined): AsyncGenerator<AuditJson, void>;
}

/** Rejects with GATEWAY_AMBIGUOUS, and with STORE_UNAVAILABLE where there is no audit. */
export async function openAuditSource(context: CommandContext): Promise<AuditSource> {
  try {
    return askGateway(await openGatewayClient(context));
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "GATEWAY_UNREACHABLE") throw error;
    if (textOption(context, "gateway") !== undefined) throw error;
    return await openFiles(context);
  }
}

function askGateway(gateway: GatewayClient): AuditSource {
  return {
    isLive: true,
    async page({ limit, before, after, action }) {
      const query = { limit: String(limit), cursor: toCursor(before), after: toCursor(after), action };
      const { entries, nextCursor } = await gateway.ask<typeof listAudit>("GET /api/audit", { query });
      return { entries, next: nextCursor === null ? null : Number(nextCursor) };
    },
    verify: async () => await gateway.ask<typeof verifyAudit>("GET /api/audit/verify", {}),
    async *exported(action) {
      // So many at once: what comes behind them is asked for again.
      for (let cursor: string | undefined, read = mostExported; read === mostExported;) {
        read = 0;
        const query = { action, cursor };
        for await (const line of gateway.lines({ path: "/api/audit", query, accept: "application/x-ndjson" })) {
          const entry = JSON.parse(line) as AuditJson;
          read += 1;
          cursor = String(entry.seq);
          yield entry;
        }
      }
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Rows of one export. */
const mostExported = 100_000;

function toCursor(place: number | undefined): string | undefined {
  return place === undefined ? undefined : String(place);
}

/** Holds the gateway's lock meanwhile, so that no gateway opens the same files. */
async function openFiles(context: CommandContext): Promise<AuditSource> {
  const config = await readConfig(context);
  const place = storeIn(openDataDirectory(config, context), context).lock.placeOf(servedBy(config, context));
  // One elsewhere is not looked for among the files.
  const check = config.settings.database === undefined ? requireAudit : () => undefined;
  check(place);
  const store = await openUnservedStore(context, config, check);
  if (!("records" in store)) return askGateway(ownersClient(store));
  const { records } = store;
  const page: AuditSource["page"] = async (asked) => {
    const { rows, next } = await records.audits(asked);
    return { entries: rows.map(auditToJson), next };
  };
  return {
    isLive: false,
    page,
    async *exported(action) {
      for (let before: number | undefined | null; before !== null;) {
        const { entries, next } = await page({ limit: 1_000, before, action });
        yield* entries;
        before = next;
      }
    },
    verify: async () => toCheck(await records.verifyAudit(), 0),
    [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose](),
  };
}

function requireAudit(folder: string): void {
  if (!existsSync(join(folder, "state.db"))) throw noAudit();
}

function noAudit(): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "no gateway runs with this configuration, and none has left an audit", {
    hint: "Name the configuration with --config, or start the gateway with `toolyard serve`.",
  });
}
