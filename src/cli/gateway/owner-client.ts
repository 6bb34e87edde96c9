import { request } from "node:http";
import type { Duplex } from "node:stream";
import type { OwnerPurpose } from "../../front/owner/owner-door.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";

export interface OwnerSocket {
  readonly socket: Duplex;
  /** Path of the configuration that the gateway runs with, with links followed. Empty when it has none. */
  readonly configFile: string;
  /** How long the gateway takes at most when it is told to stop. */
  readonly stopMs: number;
}

/** What is to be known of a gateway whose door is used. */
export type DoorOf = Pick<GatewayHolder, "pid" | "url" | "secret">;

const connectTimeoutMs = 10_000;
/** What a gateway takes that does not say it. */
const defaultStopMs = 29_000;

/** Connects to the owner's endpoint of a running gateway. Rejects with GATEWAY_UNREACHABLE. */
export async function openOwnerSocket(holder: DoorOf, purpose: OwnerPurpose, endpoint: string): Promise<OwnerSocket> {
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
      const { "toolyard-config": file = "", "toolyard-stop-ms": stopMs } = response.headers;
      resolve({ socket, configFile: decodeURIComponent(String(file)), stopMs: Number(stopMs) || defaultStopMs });
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

/** Ends the gateway as SIGTERM does. Resolves to how long that takes at most. Rejects with GATEWAY_UNREACHABLE. */
export async function stopByDoor(holder: DoorOf): Promise<number> {
  const { socket, stopMs } = await openOwnerSocket(holder, "stop", "/mcp");
  socket.destroy();
  return stopMs;
}
