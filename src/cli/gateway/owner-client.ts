import { request } from "node:http";
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import type { AuditRequest, ControlAnswer } from "../../app/owner/owner-commands.ts";
import type { PeopleRequest } from "../../app/owner/owner-people.ts";
import type { OwnerPurpose } from "../../front/owner/owner-door.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";

export interface OwnerSocket {
  readonly socket: Duplex;
  /** Path of the configuration that the gateway runs with, with links followed. Empty when it has none. */
  readonly configFile: string;
}

const connectTimeoutMs = 10_000;

/** Connects to the owner's endpoint of a running gateway. Rejects with GATEWAY_UNREACHABLE. */
export async function openOwnerSocket(
  holder: GatewayHolder,
  purpose: OwnerPurpose,
  endpoint: string,
): Promise<OwnerSocket> {
  return await new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${holder.pid} ${why}`));
    if (holder.url === null) {
      fail("is starting or stopping");
      return;
    }
    const { hostname, port } = new URL(holder.url);
    const knock = request({
      method: "CONNECT",
      host: reachable(hostname),
      port: Number(port),
      path: `${purpose}:1`,
      headers: { Authorization: `Bearer ${holder.secret}`, "Toolyard-Endpoint": endpoint },
      timeout: connectTimeoutMs,
    });
    knock.on("timeout", () => knock.destroy(new Error("is silent")));
    knock.on("error", (error) => fail(`cannot be reached at ${String(holder.url)}: ${error.message}`));
    knock.on("connect", (response, socket, head) => {
      if (response.statusCode !== 200) {
        fail(`refused (${String(response.statusCode)})`);
        socket.destroy();
        return;
      }
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve({ socket, configFile: decodeURIComponent(String(response.headers["toolyard-config"] ?? "")) });
    });
    knock.end();
  });
}

/** A gateway that listens on all addresses is reached on this machine's own. */
function reachable(hostname: string): string {
  if (hostname === "0.0.0.0") return "127.0.0.1";
  if (hostname === "[::]") return "::1";
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** Sends one command to the running gateway and returns its answer. Rejects with GATEWAY_UNREACHABLE. */
export async function control(
  holder: GatewayHolder,
  command: { readonly command: string; readonly name?: string | undefined } & Partial<AuditRequest> &
    Partial<PeopleRequest>,
): Promise<ControlAnswer> {
  const { socket } = await openOwnerSocket(holder, "control", "/mcp");
  try {
    socket.write(`${JSON.stringify(command)}\n`);
    for await (const line of createInterface({ input: socket })) return JSON.parse(line) as ControlAnswer;
    throw new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${holder.pid} ended without answering`);
  } finally {
    socket.destroy();
  }
}

/** What the command `events` is answered with, on each line. */
export interface EventLine {
  readonly ok: boolean;
  readonly message?: string;
  readonly hint?: string;
  readonly reset?: boolean;
  readonly event?: {
    readonly type: string;
    readonly time: string;
    readonly server: string | null;
    readonly instance: string | null;
    readonly principal: string | null;
    readonly coalesced?: number;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

/**
 * Events of the running gateway as they happen. Ends when the gateway does, or when nothing more is asked for. Rejects
 * with GATEWAY_UNREACHABLE.
 */
export async function* followEvents(
  holder: GatewayHolder,
  types: readonly string[] | undefined,
): AsyncGenerator<EventLine, void> {
  const { socket } = await openOwnerSocket(holder, "control", "/mcp");
  try {
    socket.write(`${JSON.stringify({ command: "events", types })}\n`);
    for await (const line of createInterface({ input: socket })) yield JSON.parse(line) as EventLine;
  } finally {
    socket.destroy();
  }
}
