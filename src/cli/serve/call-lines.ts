import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** `toolyard serve --verbose`: prints one line for each call when it ends, never its arguments or its result. */
export function followCalls(events: Pick<EventBus, "on">, print: (line: string) => void): () => void {
  return events.on(["mcp.request.logs"], (event) => print(toCallLine(event)));
}

/** A line such as `14:02:11 everything:get-sum  ok  3 ms`. */
export function toCallLine({ atMs, server, method, name, outcome, durationMs }: EventOf<"mcp.request.logs">): string {
  const time = new Date(atMs).toTimeString().slice(0, 8);
  const what = method === "tools/call" ? `${server}:${name}` : `${server} ${method} ${name}`;
  return `${time} ${plainText(what).trimEnd()}  ${plainText(outcome)}  ${Math.round(durationMs)} ms\n`;
}
