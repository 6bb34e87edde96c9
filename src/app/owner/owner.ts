import type { Duplex } from "node:stream";
import { createInterface } from "node:readline";
import { createConversation } from "../../front/owner/owner-conversation.ts";
import { isEverydayName } from "../../front/owner/everyday-names.ts";
import type { Everyday } from "../../front/owner/everyday.ts";
import { createOwnerDoor, type OwnerConnection } from "../../front/owner/owner-door.ts";
import { serveStdio } from "../../front/mcp/transports/stdio.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { toDenial } from "../people/audited-access.ts";
import type { ConfigStandingDeps } from "../fronts/config-drift.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { createOwnerCommands } from "./owner-commands.ts";
import { readEventsCommand, sendEvents } from "./owner-events.ts";
import { untilReaderLeaves } from "./reader-gone.ts";
import { readRecordsCommand, sendRecords } from "./owner-records.ts";

/** What the owner of the data directory does through the door: clients of `toolyard stdio`, and commands. */
export interface Owner {
  readonly onConnect: ReturnType<typeof createOwnerDoor>;
  /** Clients that are bridged now. */
  readonly clients: number;
  /** Whether a command has come, which may want any server. */
  readonly isCommanded: boolean;
}

export interface OwnerOptions extends Pick<ConfigStandingDeps, "load" | "started"> {
  readonly secret: string;
  readonly gateway: GatewayParts;
  /** Ends the gateway as SIGTERM does. */
  readonly stop: () => void;
}

export function createOwner({ secret, gateway, stop, load, started }: OwnerOptions): Owner {
  const execute = createOwnerCommands({ gateway, stop, load, started });
  let clients = 0;
  let isCommanded = false;
  let loaded: Everyday | undefined;

  async function bridge({ endpoint: path, socket }: OwnerConnection): Promise<void> {
    const endpoint = gateway.mcp.endpointOf(path);
    if (endpoint === undefined) return;
    clients += 1;
    try {
      await serveStdio({
        input: socket,
        output: socket,
        endpoint,
        principal: gateway.owner,
        parts: gateway.mcp.parts,
        limits: gateway.mcp.parts.limits,
      });
    } finally {
      clients -= 1;
    }
  }

  /** Counted as a client, so that a gateway that is used in this way alone does not end in the middle of it. */
  const everyday: Everyday = async (command, request, conversation) => {
    clients += 1;
    try {
      const run = await gateway.late.load("everyday", async () => {
        const { loadEveryday } = await import("../fronts/rest-front.ts");
        return (loaded ??= loadEveryday(gateway));
      });
      await run(command, request, conversation);
    } catch (error) {
      const { code, message, hint } = toGatewayError(error);
      await conversation.send({ ok: false, failure: { code, message, hint }, end: true });
    } finally {
      clients -= 1;
    }
  };

  async function control(socket: Duplex): Promise<void> {
    isCommanded = true;
    const closed = new AbortController();
    socket.once("close", () => closed.abort(callerGone()));
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
      await answer(line.value, lines, socket, closed.signal);
    }
  }

  async function answer(line: string, lines: Lines, socket: Duplex, signal: AbortSignal): Promise<void> {
    const request = readRequest(line);
    const { command } = request;
    if (isEverydayName(command)) {
      const conversation = createConversation({ socket, lines, signal: untilReaderLeaves(socket, signal) });
      return await everyday(command, request, conversation);
    }
    const events = readEventsCommand(request);
    if (events !== undefined) return await sendEvents(gateway, events, socket, signal);
    const records = readRecordsCommand(request);
    if (records !== undefined) return await sendRecords(gateway, records, socket, signal);
    socket.write(`${JSON.stringify(await execute(request, signal))}\n`);
  }

  const onConnect = createOwnerDoor({
    secret,
    onDenied: (request) =>
      gateway.audit.deny(toDenial(request, new GatewayError("FORBIDDEN", "the owner's secret is not known"))),
    headers: () => ({ "Toolyard-Config": gateway.config().identity?.realFile ?? "" }),
    onConnection(connection) {
      const serving = connection.purpose === "bridge" ? bridge(connection) : control(connection.socket);
      void serving.catch(() => undefined).finally(() => connection.socket.end());
    },
  });

  return {
    onConnect,
    get clients() {
      return clients;
    },
    get isCommanded() {
      return isCommanded;
    },
  };
}

function callerGone(): GatewayError {
  return new GatewayError("CALL_CANCELLED", "nobody waits for the answer any more");
}

type Lines = AsyncIterator<string>;

/** An object without a command for whatever is none, so that it is answered as an unknown command is. */
function readRequest(line: string): JsonObject {
  try {
    const request: unknown = JSON.parse(line);
    return isJsonObject(request) ? request : {};
  } catch {
    return {};
  }
}
