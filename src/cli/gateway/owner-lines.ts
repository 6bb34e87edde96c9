import { createInterface } from "node:readline";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { openOwnerSocket } from "./owner-client.ts";

/**
 * Sends one command to the running gateway and gives its answers, one per line, until the gateway says that this was
 * all, or ends. Rejects with GATEWAY_UNREACHABLE.
 */
export async function* ownerLines<Line extends { readonly end?: boolean }>(
  holder: GatewayHolder,
  command: object,
): AsyncGenerator<Line, void> {
  const { socket } = await openOwnerSocket(holder, "control", "/mcp");
  try {
    socket.write(`${JSON.stringify(command)}\n`);
    for await (const line of createInterface({ input: socket })) {
      const answer = JSON.parse(line) as Line;
      if (answer.end === true) return;
      yield answer;
    }
  } finally {
    socket.destroy();
  }
}
