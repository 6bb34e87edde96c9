import { styleText } from "node:util";
import type { Gateway } from "../../app/gateway.ts";
import { toLiveLines, type EndedCall, type Paint } from "./live-lines.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";

export interface LiveViewOptions {
  readonly gateway: Pick<Gateway, "glance" | "events">;
  readonly url: string;
  readonly logFile: string | undefined;
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
  const { gateway, url, logFile, screen, terminal, stopping } = options;
  const paint: Paint = (style, text) => styleText(style, text, { stream: terminal });
  const ended: EndedCall[] = [];
  let glance = await gateway.glance();
  let drawTimer: NodeJS.Timeout | undefined;
  let drawnMs = 0;

  const draw = (): void => {
    drawTimer = undefined;
    drawnMs = performance.now();
    const times = { nowMs: Date.now(), monotonicMs: drawnMs };
    screen.show(toLiveLines({ glance, ended, url, logFile, ...times }, screen.size(), paint));
  };
  const drawSoon = (): void => {
    drawTimer ??= setTimeout(draw, Math.max(0, drawnMs + drawMs - performance.now()));
  };
  const unsubscribe = gateway.events.on(["mcp.request.logs"], (call) => {
    ended.unshift(call);
    if (ended.length > mostEnded) ended.length = mostEnded;
    drawSoon();
  });
  let lookTimer = setTimeout(function look() {
    gateway.glance().then(
      (next) => {
        glance = next;
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
