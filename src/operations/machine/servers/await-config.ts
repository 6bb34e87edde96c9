import { abortAfter, sleep } from "../../../kernel/runtime/abort.ts";
import { isComing } from "../../../kernel/status-words.ts";
import type { ServerStatus } from "../../../records/gateway-status.ts";

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

/** The gateway that runs with the file. */
export interface ChangedGateway {
  /** What the file says otherwise than the gateway. */
  drift(): Promise<{ readonly refused: string | null; readonly differences: readonly { readonly path: string }[] }>;
  servers(): Promise<readonly ServerStatus[]>;
}

/**
 * Waits until the running gateway, if there is one, has in force what the file says of this server; and, if it is to
 * run, until it is up or cannot be.
 */
export async function waitInForce(
  gateway: ChangedGateway | undefined,
  wanted: WantedServer,
  signal: AbortSignal = never,
): Promise<InForce> {
  if (gateway === undefined) return { kind: "nobody" };
  const applied = await waitApplied(gateway, wanted.key, signal);
  return applied ?? { kind: "applied", servers: await waitSettled(gateway, wanted, signal) };
}

/** Undefined when it is in force. */
async function waitApplied(gateway: ChangedGateway, key: string, signal: AbortSignal): Promise<InForce | undefined> {
  const limit = abortAfter(applyMs);
  for (;;) {
    const config = await gateway.drift();
    if (config.refused !== null) return { kind: "refused", reason: config.refused };
    if (!config.differences.some(({ path }) => path.startsWith(`servers.${key}.`))) return undefined;
    if (limit.aborted) return { kind: "late", reason: "it has not applied the change yet" };
    await sleep(lookMs, signal);
  }
}

async function waitSettled(
  gateway: ChangedGateway,
  { slug, isToRun }: WantedServer,
  signal: AbortSignal,
): Promise<readonly ServerStatus[]> {
  const limit = abortAfter(startMs);
  for (;;) {
    const servers = (await gateway.servers()).filter(({ server }) => server === slug);
    const isSettled = servers.every((server) => !isComing(server.status));
    if (limit.aborted || (isSettled && (servers.length > 0 || !isToRun))) return servers;
    await sleep(lookMs, signal);
  }
}

const never = new AbortController().signal;
