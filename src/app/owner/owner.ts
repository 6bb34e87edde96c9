import { createServer, type IncomingMessage } from "node:http";
import type { Settings } from "../../config/config.ts";
import type { RestHandler } from "../../front/http/http-server.ts";
import { createOwnerDoor, type OwnerConnection } from "../../front/owner/owner-door.ts";
import { serveStdio } from "../../front/mcp/transports/stdio.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toDenial } from "../people/watched-access.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/** What the owner of the data directory does through the door: clients of `toolyard stdio`, and commands. */
export interface Owner {
  readonly onConnect: ReturnType<typeof createOwnerDoor>;
  /** Whether a request came through the door. */
  readonly isOwner: (request: IncomingMessage) => boolean;
  /** Clients that are bridged now, and requests that are answered. */
  readonly clients: number;
  /** Whether a command has come, which may want any server. */
  readonly isCommanded: boolean;
}

export interface OwnerOptions {
  readonly secret: string;
  readonly gateway: GatewayParts;
  /** Ends the gateway as SIGTERM does. */
  readonly stop: () => void;
  /** Takes a request of the owner. */
  readonly rest: RestHandler;
}

/** For servers to end, once no call runs. */
const serversEndMs = 4_000;
/** Service managers kill a process after 30 s, and servers may take what calls leave of them. */
const leastStopMs = 29_000;

/** How long the gateway takes to stop at most: its notice, the calls in progress, and its servers. */
export function wholeStopMs({ noticeMs, instances }: Settings): number {
  return Math.max(leastStopMs, noticeMs + instances.drainTimeoutMs + serversEndMs);
}

export function createOwner({ secret, gateway, stop, rest }: OwnerOptions): Owner {
  let clients = 0;
  let isCommanded = false;
  const sockets = new WeakSet<object>();
  // It listens nowhere: connections are given to it. A request is counted as a client, so that a gateway that is used
  // in this way alone does not end in the middle of it.
  const server = createServer((request, response) => {
    clients += 1;
    response.once("close", () => (clients -= 1));
    rest(request, response);
  });

  async function bridge({ endpoint: path, socket }: OwnerConnection): Promise<void> {
    const endpoint = gateway.mcp.endpointOf(path);
    if (endpoint === undefined) return;
    clients += 1;
    try {
      await serveStdio({
        input: socket,
        output: socket,
        endpoint,
        principal: gateway.mcp.enter(gateway.owner, endpoint),
        parts: gateway.mcp.parts,
        limits: gateway.mcp.parts.limits,
      });
    } finally {
      clients -= 1;
    }
  }

  async function orderStop(): Promise<void> {
    const about = { actor: "owner", via: "owner", action: "gateway.stop", object: "", detail: {} };
    await gateway.audit.order(about).finally(stop);
  }

  const onConnect = createOwnerDoor({
    secret,
    onDenied: (request) =>
      gateway.audit.deny(toDenial(request, new GatewayError("FORBIDDEN", "the owner's secret is not known"))),
    headers() {
      const { identity, settings } = gateway.config();
      return { "Toolyard-Config": identity?.realFile ?? "", "Toolyard-Stop-Ms": String(wholeStopMs(settings)) };
    },
    onConnection(connection) {
      const { purpose, socket } = connection;
      if (purpose === "rest") {
        isCommanded = true;
        sockets.add(socket);
        server.emit("connection", socket);
        return;
      }
      const serving = purpose === "bridge" ? bridge(connection) : orderStop();
      void serving.catch(() => undefined).finally(() => socket.end());
    },
  });

  return {
    onConnect,
    isOwner: ({ socket }) => sockets.has(socket),
    get clients() {
      return clients;
    },
    get isCommanded() {
      return isCommanded;
    },
  };
}
