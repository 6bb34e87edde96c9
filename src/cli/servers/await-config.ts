import { abortAfter, sleep } from "../../kernel/runtime/abort.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { isComing } from "../../kernel/status-words.ts";
import type { ServerStatus } from "../../records/gateway-status.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import type { compareConfig } from "../../operations/gateway/owner-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { ownersClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { readStatus } from "../gateway/gateway-client.ts";
import { findGateways } from "../gateway/running-gateways.ts";
import { showWaiting } from "../terminal/waiting-line.ts";

/** What became of a change of the file in a running gateway. */
export type InForce =
  | { readonly kind: "nobody" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "late"; readonly reason: string }
  | { readonly kind: "applied"; readonly servers: readonly ServerStatus[] };

/** A gateway reads a changed file within a second, and ends what it no longer needs. */
const applyMs = 20_000;
/** Most servers start within this time; a longer start is reported. */
const startMs = 60_000;
const lookMs = 100;

/** The server that was changed. */
export interface WantedServer {
  /** As it is in the file. */
  readonly key: string;
  /** As the gateway calls it. */
  readonly slug: string;
  readonly isToRun: boolean;
}

/** The gateways that serve the file; empty when none does. */
async function gatewaysOf(context: CommandContext): Promise<readonly GatewayHolder[]> {
  try {
    return await findGateways(context);
  } catch (error) {
    if (toGatewayError(error).code === "GATEWAY_UNREACHABLE") return [];
    throw error;
  }
}

/**
 * Waits until the running gateway, if there is one, has in force what the file says of this server; and, if it is to
 * run, until it is up or cannot be.
 */
export async function waitInForce(context: CommandContext, wanted: WantedServer): Promise<InForce> {
  const [holder] = await gatewaysOf(context);
  if (holder === undefined) return { kind: "nobody" };
  const waiting = showWaiting("waiting for the running gateway to apply it", process.stderr);
  try {
    const gateway = ownersClient(holder);
    const applied = await waitApplied(gateway, wanted.key);
    if (applied !== undefined) return applied;
    return { kind: "applied", servers: await waitSettled(gateway, wanted) };
  } finally {
    waiting.end();
  }
}

/** Undefined when it is in force. */
async function waitApplied(gateway: GatewayClient, key: string): Promise<InForce | undefined> {
  const limit = abortAfter(applyMs);
  for (;;) {
    const config = await gateway.ask<typeof compareConfig>("GET /api/config/drift", {});
    if (config.refused !== null) return { kind: "refused", reason: config.refused };
    if (!config.differences.some(({ path }) => path.startsWith(`servers.${key}.`))) return undefined;
    if (limit.aborted) return { kind: "late", reason: "it has not applied the change yet" };
    await sleep(lookMs, never);
  }
}

async function waitSettled(gateway: GatewayClient, { slug, isToRun }: WantedServer): Promise<readonly ServerStatus[]> {
  const limit = abortAfter(startMs);
  for (;;) {
    const { servers: all } = await readStatus(gateway);
    const servers = all.filter(({ server }) => server === slug);
    const isSettled = servers.every((server) => !isComing(server.status));
    if (limit.aborted || (isSettled && (servers.length > 0 || !isToRun))) return servers;
    await sleep(lookMs, never);
  }
}

const never = new AbortController().signal;
