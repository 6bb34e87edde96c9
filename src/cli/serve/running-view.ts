import type { TypesOf } from "../../operations/operation.ts";
import type { listCalls } from "../../operations/records/call-operations.ts";
import type { showActivity } from "../../operations/records/status-operations.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import type { CommandContext } from "../command/command-context.ts";
import { ownersClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { printText } from "../terminal/fitted-text.ts";
import { openScreen } from "../terminal/terminal-screen.ts";
import { showLive, type ShownGateway } from "./live-view.ts";

/** The gateway that already runs with this configuration; without a configuration, the only one that runs. */
export async function findRunning(context: CommandContext): Promise<GatewayHolder | undefined> {
  // A failure is told when a gateway is to be started.
  const holder = await findGateway(context).catch(() => undefined);
  return holder?.url === null ? undefined : holder;
}

/** Shows a gateway of another process until Ctrl-C, which leaves it as it is, or until it ends. */
export async function showRunning(holder: GatewayHolder): Promise<number> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort(new Error("the view was left"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, leave);
  let end: string | undefined;
  const onEnd = (error?: unknown): void => {
    if (!leaving.signal.aborted) end = hasEnded(error) ? "The gateway has ended." : failureText(error);
    leave();
  };
  await showLive({
    gateway: askedGateway(ownersClient(holder), leaving.signal, onEnd),
    url: holder.url ?? "",
    foot: `the gateway of process ${holder.pid}: Ctrl-C leaves this view, \`toolyard stop\` ends it`,
    screen: openScreen(),
    terminal: process.stderr,
    stopping: leaving.signal,
  });
  printText(process.stderr, end ?? `The gateway goes on at ${holder.url ?? ""}.`);
  return 0;
}

function hasEnded(error: unknown): boolean {
  return error === undefined || toGatewayError(error).code === "GATEWAY_UNREACHABLE";
}

function failureText(error: unknown): string {
  const { message, hint } = toGatewayError(error);
  return `${message}\n${hint}`;
}

/** Calls of before that are shown at once. */
const mostBefore = 8;

/**
 * Asks over REST. `onEnd` is called when there is no answer any more. A gateway whose records cannot be read is shown
 * without the calls that have ended.
 */
function askedGateway(client: GatewayClient, leaving: AbortSignal, onEnd: (error?: unknown) => void): ShownGateway {
  return {
    async glance() {
      try {
        return await client.ask<typeof showActivity>("GET /api/status/activity", {});
      } catch (error) {
        onEnd(error);
        throw error;
      }
    },
    onCall(listener) {
      void followCalls(client, leaving, listener).then(
        () => onEnd(),
        (error: unknown) => {
          if (hasEnded(error)) onEnd();
        },
      );
      return () => undefined;
    },
  };
}

type CallJson = TypesOf<typeof listCalls>["answer"]["calls"][number];

async function followCalls(
  client: GatewayClient,
  signal: AbortSignal,
  listener: Parameters<ShownGateway["onCall"]>[0],
): Promise<void> {
  const query = { newest: String(mostBefore), follow: "true" };
  const asked = { path: "/api/calls", query, accept: "application/x-ndjson", isEndless: true, signal };
  for await (const line of client.lines(asked)) {
    const call = JSON.parse(line) as Partial<CallJson>;
    const { time, name, outcome, code, durationMs = 0, client: from } = call;
    // Some lines say that others were lost.
    if (time === undefined || name === undefined || outcome === undefined) continue;
    const ending = outcome === "failed" && code != null ? code : outcome;
    listener({ atMs: Date.parse(time), path: name, outcome: ending, durationMs, client: from ?? undefined });
  }
}
