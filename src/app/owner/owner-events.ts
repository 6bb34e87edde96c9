import type { Duplex } from "node:stream";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { createTypeFilter, typesMatching } from "../../kernel/events/published-events.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { untilReaderLeaves } from "./reader-gone.ts";

/** What the command `events` asks for: patterns of types, or undefined for all. */
export interface EventsCommand {
  readonly types: readonly string[] | undefined;
}

/** What may wait for a command that does not read; then the connection is closed, as over HTTP. */
const mostWaitingBytes = 1024 * 1024;

/** Undefined for every other command. */
export function readEventsCommand(request: JsonObject): EventsCommand | undefined {
  if (request["command"] !== "events") return undefined;
  const { types } = request;
  return { types: Array.isArray(types) ? types.map(String) : undefined };
}

/**
 * Sends every event from now on as one line, `{ ok: true, event }`, until the reader or the gateway ends; a line
 * `{ ok: true }` says that it has begun, `{ ok: true, reset: true }` that some are missing. Never rejects: a failure is
 * a line too.
 */
export async function sendEvents(
  { live, owner }: Pick<GatewayParts, "live" | "owner">,
  { types }: EventsCommand,
  socket: Duplex,
  closed: AbortSignal,
): Promise<void> {
  const signal = untilReaderLeaves(socket, closed);
  const send = (line: string): void => {
    if (socket.writableLength > mostWaitingBytes) socket.destroy();
    else socket.write(`${line}\n`);
  };
  try {
    const unknown = types?.find((pattern) => typesMatching(pattern).length === 0);
    if (unknown !== undefined) throw unknownType(unknown);
    const isWanted = createTypeFilter(types);
    const { follow } = await live.load();
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const { leave } = follow(
        {
          principal: owner,
          wants: (event) => isWanted(event.type),
          onEvent: (_type, text) => send(`{"ok":true,"event":${text}}`),
          onReset: () => send(`{"ok":true,"reset":true}`),
          isFull: () => false,
          onEnd: resolve,
        },
        undefined,
      );
      send(`{"ok":true}`);
      signal.addEventListener("abort", () => {
        leave();
        resolve();
      });
    });
  } catch (error) {
    const { message, hint } = toGatewayError(error);
    send(JSON.stringify({ ok: false, message, hint }));
  }
}

function unknownType(pattern: string): GatewayError {
  return new GatewayError("REQUEST_INVALID", `there is no event ${pattern.slice(0, 100)}`, {
    hint: "docs/events.md lists them; `mcp.server.*` means all that begin so.",
  });
}
