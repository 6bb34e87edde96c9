import { expect, test } from "vitest";
import { createEventLog, parseEventId } from "./event-log.ts";

function collect(): { texts: string[]; ended: number; onEvent(text: string): void; onEnd(): void } {
  const texts: string[] = [];
  return {
    texts,
    ended: 0,
    onEvent: (text) => void texts.push(text),
    onEnd() {
      this.ended += 1;
    },
  };
}

test("who comes back gets what it missed, then what is new, then the end", () => {
  const log = createEventLog("s", 100);
  expect(log.prime()).toBe("id: s_0\nretry: 100\ndata: \n\n");
  const events = [log.append('{"a":1}'), log.append('{"b":2}')];
  expect(events[0]).toBe('event: message\nid: s_1\ndata: {"a":1}\n\n');
  const reader = collect();
  log.follow(1, reader);
  expect(reader.texts).toEqual([events[1]]);
  events.push(log.append('{"c":3}'));
  log.end();
  expect(reader.texts).toEqual(events.slice(1));
  expect(reader.ended).toBe(1);
  const late = collect();
  log.follow(0, late);
  expect(late).toMatchObject({ texts: events, ended: 1 });
});

test("who left hears nothing more", () => {
  const log = createEventLog("s", 100);
  const reader = collect();
  log.follow(0, reader)();
  log.append("{}");
  log.end();
  expect(reader).toMatchObject({ texts: [], ended: 0 });
});

test("a log forgets from the front, by number and by bytes", () => {
  const many = createEventLog("s", 100);
  for (let count = 0; count < 300; count += 1) many.append("{}");
  const reader = collect();
  many.follow(0, reader);
  expect(reader.texts).toHaveLength(256);
  const heavy = createEventLog("s", 100);
  for (let count = 0; count < 5; count += 1) heavy.append("x".repeat(1024 * 1024));
  const other = collect();
  heavy.follow(0, other);
  expect(other.texts).toHaveLength(3);
});

test("a message laid out over lines stays one event", () => {
  expect(createEventLog("s", 100).append('{\r\n"a":1\n}')).toBe(
    'event: message\nid: s_1\ndata: {\ndata: "a":1\ndata: }\n\n',
  );
});

test.each([
  ["abc-1_7", { stream: "abc-1", number: 7 }],
  ["abc", undefined],
  ["_1", undefined],
  ["a_1_2", { stream: "a_1", number: 2 }],
  ["one.ImEi.a-1_7", { stream: "one.ImEi.a-1", number: 7 }],
  ["a_-1", undefined],
  ["a_1e9", undefined],
  ["a_12345678901", undefined],
  ["a\n_1", undefined],
])("Last-Event-ID %j", (text, expected) => expect(parseEventId(text)).toEqual(expected));
