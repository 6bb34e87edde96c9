import { expect, test } from "vitest";
import { requestPath } from "./public-url.ts";

test.each([
  ["/mcp", "/mcp"],
  ["/mcp/", "/mcp"],
  ["/", "/"],
  ["/mcp?x=/sse", "/mcp"],
  ["/mcp#/sse", "/mcp"],
  ["http://other.example:80/mcp?x", "/mcp"],
  ["HTTPS://other.example", "/"],
  ["https://other.example?x", "/"],
  ["/http://other.example/mcp", "/http://other.example/mcp"],
])("the path of the target %s is %s", (target, path) => expect(requestPath(target)).toBe(path));
