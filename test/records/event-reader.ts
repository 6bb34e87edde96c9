import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { until } from "../harness/until.ts";
import type { WrittenEvent } from "./webhook-receiver.ts";

export interface ReadEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: WrittenEvent;
}

/** A reader of `/api/events` by hand. */
export interface EventReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Everything that came, as text. */
  text(): string;
  readonly events: readonly ReadEvent[];
  /** The id that came last, also without an event. */
  lastId(): string;
  next(wanted: (event: ReadEvent) => boolean): Promise<ReadEvent>;
  readonly ended: boolean;
  /** Its connection, for readers that do not read. */
  readonly response: IncomingMessage;
  close(): void;
}

export async function readEvents(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
  const asked = request(url, { headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve);
    asked.once("error", reject);
    asked.end();
  });
  asked.on("error", () => undefined);
  let text = "";
  let ended = false;
  const events: ReadEvent[] = [];
  let rest = "";
  let lastId = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const id = /^id: (.*)$/m.exec(block)?.[1];
      lastId = id ?? lastId;
      const data = /^data: (.*)$/m.exec(block)?.[1] ?? "";
      if (event !== undefined) events.push({ event, id, data: JSON.parse(data) as WrittenEvent });
    }
  });
  response.on("error", () => undefined);
  response.on("close", () => (ended = true));
  const reader: EventReader = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    events,
    lastId: () => lastId,
    next: async (wanted) => await until(() => events.find((event) => wanted(event))),
    get ended() {
      return ended;
    },
    response,
    close: () => asked.destroy(),
  };
  if (reader.status === 200) await until(() => lastId !== "" || ended);
  return reader;
}
