import { expect, test } from "vitest";
import { isEventStreamType, noHead, ResponseHead, withHeaders } from "./response-head.ts";

const head = new ResponseHead(
  200,
  [
    "HTTP/1.1 200 OK",
    "Content-Type: \t application/json \t",
    "X-Note: content-length: 5",
    "Set-Cookie: A=1",
    "SET-COOKIE:b=2",
    "Empty:",
    "Last:End",
  ].join("\r\n"),
);

test("a header is found in any case, without the white space around it and with its own case", () => {
  expect(head.get("content-type")).toBe("application/json");
  expect(head.get("last")).toBe("End");
  expect(head.get("empty")).toBe("");
});

test("a header is not found in another's value or name", () => {
  expect(head.get("content-length")).toBeUndefined();
  expect(head.get("type")).toBeUndefined();
  expect(head.get("http/1.1 200 ok")).toBeUndefined();
  expect(noHead.get("content-type")).toBeUndefined();
});

test("of several headers of a name the first counts, and all are there in order", () => {
  expect(head.get("set-cookie")).toBe("A=1");
  expect(head.getAll("set-cookie")).toEqual(["A=1", "b=2"]);
  expect(head.getAll("absent")).toEqual([]);
});

test("an event stream is known in any case, with parameters", () => {
  for (const type of [
    "text/event-stream",
    "text/event-stream; charset=utf-8",
    "Text/Event-Stream",
    "  TEXT/event-stream",
  ])
    expect(isEventStreamType(type)).toBe(true);
  for (const type of ["", "text/plain", "application/json; x=text/event-stream", "text/event"])
    expect(isEventStreamType(type)).toBe(false);
});

test("added headers replace those of the same name, and the list that was given is left alone", () => {
  const given = ["accept", "a", "x-key", "k", "accept", "b"] as const;
  expect(withHeaders(given, { Accept: "c", "X-New": "n" })).toEqual(["x-key", "k", "accept", "c", "x-new", "n"]);
  expect(given).toEqual(["accept", "a", "x-key", "k", "accept", "b"]);
  expect(withHeaders([], {})).toEqual([]);
});
