import { expect, test } from "vitest";
import { reaches } from "./audience.ts";

const base = "https://tools.example/yard";

test("a credential opens the resource that it is for", () => {
  expect(reaches(base, base, "/mcp/flat")).toBe(true);
  expect(reaches(`${base}/mcp`, base, "/mcp/server/a")).toBe(true);
  expect(reaches(`${base}/mcp`, base, "/api/servers")).toBe(true);
  expect(reaches(`${base}/mcp/server/a`, base, "/mcp/server/a")).toBe(true);
  expect(reaches(`${base}/i/a/mcp`, base, "/i/a/mcp")).toBe(true);
});

test("a credential for an SSE endpoint opens the path that its messages are sent to", () => {
  expect(reaches(`${base}/sse`, base, "/sse/messages")).toBe(true);
  expect(reaches(`${base}/sse/server/a`, base, "/sse/server/a/messages")).toBe(true);
  expect(reaches(`${base}/i/a/sse`, base, "/i/a/sse/messages")).toBe(true);
  expect(reaches(`${base}/sse`, base, "/sse/flat/messages")).toBe(false);
  expect(reaches(`${base}/sse/flat`, base, "/sse/code/messages")).toBe(false);
  expect(reaches(`${base}/i/a/sse`, base, "/i/b/sse/messages")).toBe(false);
  expect(reaches(`${base}/mcp/server/a`, base, "/mcp/server/a/messages")).toBe(false);
  expect(reaches(`${base}/sse/messages`, base, "/sse")).toBe(false);
});

test("it opens no other: neither a part of it, nor the endpoint of an instance, nor another gateway's", () => {
  expect(reaches(`${base}/mcp/server/a`, base, "/mcp/server/b")).toBe(false);
  expect(reaches(`${base}/mcp/server/a`, base, "/mcp")).toBe(false);
  expect(reaches(`${base}/mcp/server/a`, base, "/mcp/server/ab")).toBe(false);
  expect(reaches(`${base}/mcp`, base, "/i/a/mcp")).toBe(false);
  expect(reaches(base, base, "/i/a/mcp")).toBe(false);
  expect(reaches("https://other.example/yard/mcp", base, "/mcp")).toBe(false);
  expect(reaches("", base, "/mcp")).toBe(false);
});
