import type { Gateway } from "../../app/gateway.ts";
import type { Activity } from "../../operations/services.ts";
import { toLiveLines, type EndedCall } from "./live-lines.ts";
import { paintOn } from "../terminal/table.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";

/** A gateway as the view looks at it: the one of this process, or one that is asked. */
export interface ShownGateway {
  glance(): Promise<Activity>;
  /** Calls back for each call that ends. Returns how that is ended. */
  onCall(listener: (call: EndedCall) => void): () => void;
}

/** The gateway of this process. */
export function ownGateway({ glance, events }: Pick<Gateway, "glance" | "events">): ShownGateway {
  return { glance, onCall: (listener) => events.on(["mcp.request.logs"], listener) };
}

export interface LiveViewOptions {
  readonly gateway: ShownGateway;
  readonly url: string;
  readonly foot: string;
  readonly screen: TerminalScreen;
  /** The terminal, which says when it was resized, and whether it has colours. */
  readonly terminal: NodeJS.WriteStream;
  readonly stopping: AbortSignal;
}

/** At most four times a second: more cannot be read. */
const drawMs = 250;
/** The rest of the view is looked at less often, because that visits every server. */
const lookMs = 1_000;
/** As many as the largest screen shows. */
const mostEnded = 50;

/** Shows what the gateway does, until it is to stop. Resolves then, with the view taken away. */
export async function showLive(options: LiveViewOptions): Promise<void> {
  const { gateway, url, foot, screen, terminal, stopping } = options;
  const paint = paintOn(terminal);
  const ended: EndedCall[] = [];
  let glance = await gateway.glance();
  let glancedMs = Date.now();
  let drawTimer: NodeJS.Timeout | undefined;
  let drawnMs = 0;

  const draw = (): void => {
    drawTimer = undefined;
    drawnMs = performance.now();
    const nowMs = Date.now();
    screen.show(toLiveLines({ glance, ended, url, foot, glancedMs, nowMs }, screen.size(), paint));
  };
  const drawSoon = (): void => {
    drawTimer ??= setTimeout(draw, Math.max(0, drawnMs + drawMs - performance.now()));
  };
  const unsubscribe = gateway.onCall((call) => {
    ended.unshift(call);
    if (ended.length > mostEnded) ended.length = mostEnded;
    drawSoon();
  });
  let lookTimer = setTimeout(function look() {
    gateway.glance().then(
      (next) => {
        [glance, glancedMs] = [next, Date.now()];
        if (stopping.aborted) return;
        drawSoon();
        lookTimer = setTimeout(look, lookMs);
      },
      // Only a gateway that has ended cannot be looked at.
      () => undefined,
    );
  }, lookMs);
  terminal.on("resize", drawSoon);
  if (!stopping.aborted) {
    draw();
    await new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve(), { once: true }));
  }
  terminal.off("resize", drawSoon);
  clearTimeout(lookTimer);
  clearTimeout(drawTimer);
  unsubscribe();
  screen.show([]);
}
