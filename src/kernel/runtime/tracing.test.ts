import { expect, test } from "vitest";
import { parseTraceparent, readTraceContext, traceContextOf, withTraceContext, withTraceHeaders } from "./tracing.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;

test("a traceparent is its ids and flags, also one of a later version that says more", () => {
  expect(parseTraceparent(traceparent)).toEqual({ traceId, spanId, flags: 1 });
  expect(parseTraceparent(`cc-${traceId}-${spanId}-03-what-comes`)).toEqual({ traceId, spanId, flags: 3 });
});

test.each([
  ["nothing", undefined],
  ["a number", 1],
  ["two values", [traceparent, traceparent]],
  ["too short", "00-abc-def-01"],
  ["capitals", traceparent.toUpperCase()],
  ["no trace", `00-${"0".repeat(32)}-${spanId}-01`],
  ["no span", `00-${traceId}-${"0".repeat(16)}-01`],
  ["a forbidden version", `ff-${traceId}-${spanId}-01`],
  ["more than version 00 has", `${traceparent}-more`],
  ["another header behind it", `${traceparent}\r\nx-evil: 1`],
  ["a line break in a later version", `cc-${traceId}-${spanId}-01-a\nb`],
])("%s is no traceparent", (_what, value) => {
  expect(parseTraceparent(value)).toBeUndefined();
  expect(readTraceContext({ traceparent: value })).toBeUndefined();
});

test("what a client's headers say becomes _meta, unless _meta says it itself", () => {
  const headers = { traceparent, tracestate: "a=1", baggage: "k=v", host: "h" };
  const context = traceContextOf(headers);
  expect(context).toEqual({ traceparent, tracestate: "a=1", baggage: "k=v" });
  expect(traceContextOf({ tracestate: "a=1" })).toBeUndefined();
  if (context === undefined) return;
  expect(withTraceContext(undefined, context)).toEqual({ traceparent, tracestate: "a=1", baggage: "k=v" });
  expect(withTraceContext({ "vendor/x": 1, traceparent: "bad" }, context)).toMatchObject({
    "vendor/x": 1,
    traceparent,
  });
  const own = { traceparent: traceparent.replace("0af", "1af") };
  expect(withTraceContext(own, context)).toBe(own);
});

test("nothing but valid values becomes a header: no line break, nothing that is not text, nothing too long", () => {
  const fixed = ["accept", "application/json"];
  expect(withTraceHeaders(fixed, undefined)).toBe(fixed);
  expect(withTraceHeaders(fixed, { "vendor/x": 1 })).toBe(fixed);
  expect(withTraceHeaders(fixed, { traceparent: `${traceparent}\r\nx: y`, tracestate: "a=1" })).toBe(fixed);
  expect(withTraceHeaders(fixed, { traceparent, tracestate: "a=1", baggage: "k=v" })).toEqual([
    ...fixed,
    ...["traceparent", traceparent, "tracestate", "a=1", "baggage", "k=v"],
  ]);
  for (const value of ["a=1\r\nx: y", "ä", "", 7, ["a"], "x".repeat(8_193)])
    expect(withTraceHeaders(fixed, { traceparent, tracestate: value, baggage: value })).toEqual([
      ...fixed,
      ...["traceparent", traceparent],
    ]);
  expect(fixed).toHaveLength(2);
});
