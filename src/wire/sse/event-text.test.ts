import { expect, test } from "vitest";
import { createEventStreamReader } from "./event-stream.ts";
import { eventPieces, eventText, keepAliveText, primeText } from "./event-text.ts";

/** What our own reader makes of a stream. */
function read(text: string): { readonly events: readonly string[]; readonly lastEventId: string | undefined } {
  const events: string[] = [];
  const reader = createEventStreamReader(1_000_000, {
    onEvent: (data, type) => void events.push(`${type} ${data.toString("latin1")}`),
    onTooLong: () => void events.push("too long"),
    onTooMuchIdle: () => void events.push("too much idle"),
  });
  reader.feed(Buffer.from(text, "latin1"));
  return { events, lastEventId: reader.lastEventId };
}

test.each(["{}", "", '{\n "a": 1\r\n}\r', "\n\n", '{"a":"\u00e4"}'])("%j comes back from the reader", (data) => {
  const expected = data.replace(/\r\n|\r/g, "\n");
  const events = expected === "" ? [] : [`message ${expected}`];
  expect(read(eventText("message", data)).events).toEqual(events);
  expect(read(eventText("message", data, "s_1"))).toEqual({ events, lastEventId: "s_1" });
  const bytes = Buffer.from(data, "latin1");
  for (const pieces of [[data], [bytes], ["", bytes, ""]]) {
    const written = eventPieces("message", pieces).map((piece) =>
      typeof piece === "string" ? piece : piece.toString("latin1"),
    );
    expect(written.join("")).toBe(eventText("message", data));
  }
});

test("what is no event brings none: a comment, and the id to come back from the start with", () => {
  expect(read(`${keepAliveText}${primeText("s_0", 1_000)}${keepAliveText}`)).toEqual({
    events: [],
    lastEventId: "s_0",
  });
});
