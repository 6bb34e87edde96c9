import { expect, test } from "vitest";
import { EventFields } from "./event-stream.ts";

/** The events of these lines, as text, and the reader itself. */
function read(...lines: readonly (string | Buffer)[]): { events: [string, string][]; fields: EventFields } {
  const events: [string, string][] = [];
  const fields = new EventFields((data, type) => events.push([type, data.toString("utf8")]));
  for (const line of lines) fields.addLine(Buffer.from(line));
  return { events, fields };
}

test("an event is its lines of data, and a message unless it says otherwise", () => {
  expect(read("data: a", "data:b", "data", "data:  c", "").events).toEqual([["message", "a\nb\n\n c"]]);
  expect(read("event: endpoint", "data: /x", "", "data: y", "").events).toEqual([
    ["endpoint", "/x"],
    ["message", "y"],
  ]);
});

test("nothing is told of an event without data, and its type does not stay for the next", () => {
  expect(read("event: ping", "", "data:", "", ": comment", "", "data: x", "").events).toEqual([["message", "x"]]);
});

test("an event that is not complete is not told", () => {
  const { events, fields } = read("data: half");
  expect(events).toEqual([]);
  expect(fields.length).toBe(4);
  fields.clear();
  expect(fields.length).toBe(0);
});

test("fields of other names are ignored, those that only begin like known ones too", () => {
  const lines = ["database: 1", "events: x", "identity: 1", "retryx: 5", "Data: 1", " data: 1", ":data: 1"];
  const { events, fields } = read(...lines, "data: x", "");
  expect(events).toEqual([["message", "x"]]);
  expect([fields.lastEventId, fields.retryMs]).toEqual([undefined, undefined]);
});

test("an id counts from the end of its event, and stays until there is another", () => {
  const { fields } = read("id: 1", "data: x", "", "id: 2", "data: y");
  expect(fields.lastEventId).toBe("1");
  fields.addLine(Buffer.from(""));
  expect(fields.lastEventId).toBe("2");
  for (const line of ["data: z", "", "id", "data: z", ""]) fields.addLine(Buffer.from(line));
  expect(fields.lastEventId).toBe("");
});

test("an id without data counts, so that a stream can be resumed after it", () => {
  expect(read("id: 7", "data:", "").fields.lastEventId).toBe("7");
});

test("an id that cannot be sent back in a header is ignored, and so is one without end", () => {
  for (const id of ["a\0b", "a\u0001b", "x".repeat(4_097)])
    expect(read("id: good", "", `id: ${id}`, "data: x", "").fields.lastEventId).toBe("good");
  expect(read(`id: ${"x".repeat(4_096)}`, "").fields.lastEventId).toHaveLength(4_096);
});

test("a time to retry is digits only", () => {
  expect(read("retry: 1500").fields.retryMs).toBe(1_500);
  for (const bad of ["", "-1", "1.5", "1e3", "0x10", "10s", "1234567890", "1234567890123456"])
    expect([bad, read("retry: 20", `retry: ${bad}`).fields.retryMs]).toEqual([bad, 20]);
});

test("a type is cut at 100 bytes", () => {
  expect(read(`event: ${"t".repeat(5_000)}`, "data: x", "").events[0]?.[0]).toBe("t".repeat(100));
});
