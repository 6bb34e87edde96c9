import type { Gateway } from "../../app/gateway.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { countText } from "../../kernel/text/count-text.ts";
import { isComing } from "../../kernel/failures/status-words.ts";
import type { ServerStatus } from "../../records/gateway-status.ts";
import { toCell, toInstanceText } from "../terminal/record-cells.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";

export interface TrialOptions {
  readonly gateway: Pick<Gateway, "glance">;
  readonly screen: TerminalScreen;
  readonly stopping: AbortSignal;
}

/** A first start may install packages. After this wait the results so far are shown, and the rest goes on. */
const longestTrialMs = 180_000;
const lookMs = 250;

/**
 * Shows how each server comes up: a line that stays once that is decided, and one line that counts while others are
 * still coming. Returns the servers that did not come up; empty as well when the gateway is to stop.
 */
export async function watchTrial({ gateway, screen, stopping }: TrialOptions): Promise<readonly ServerStatus[]> {
  const told = new Set<string>();
  const failed: ServerStatus[] = [];
  const startedMs = performance.now();
  for (;;) {
    const { servers } = (await gateway.glance()).status;
    const wanted = servers.filter(({ status }) => status !== "disabled");
    for (const server of wanted) {
      if (isComing(server.status) || told.has(server.instance)) continue;
      told.add(server.instance);
      if (server.status !== "online") failed.push(server);
      screen.print(`${resultLine(server)}\n`);
    }
    const coming = wanted.filter(({ status }) => isComing(status));
    const waitedMs = performance.now() - startedMs;
    if (coming.length === 0 || waitedMs > longestTrialMs || stopping.aborted) break;
    const names = coming.map((server) => `${toInstanceText(server)} ${server.word}`).join(", ");
    screen.show([
      `  ${wanted.length - coming.length} of ${wanted.length} are up: ${names} (${Math.round(waitedMs / 1_000)} s)`,
    ]);
    await sleep(lookMs, stopping).catch(() => undefined);
  }
  screen.show([]);
  return stopping.aborted ? [] : failed;
}

/** What the handshake agreed on, and what it offers; or why it did not come up. */
function resultLine(server: ServerStatus): string {
  const name = toInstanceText(server);
  if (server.status !== "online") {
    const advice = server.next?.command ?? "";
    return `  ! ${name}  ${server.word}: ${toCell(server.reason, 160)}${advice === "" ? "" : `  (${advice})`}`;
  }
  const tools = `${countText(server.tools)} ${server.tools === 1 ? "tool" : "tools"}`;
  return `  + ${name}  answers as MCP ${server.revision ?? ""}: ${tools}, ${server.tokensExact ? "" : "about "}${countText(server.tokens)} tokens`;
}
