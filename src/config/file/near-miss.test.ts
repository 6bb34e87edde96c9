import { expect, test } from "vitest";
import { nearestName } from "./near-miss.ts";

const known = ["mcpServers", "servers", "disabledTools", "env", "port", "url", "cwd", "type", "callTimeoutMs"];

test.each([
  ["mcpservers", "mcpServers"],
  ["mcp-servers", "mcpServers"],
  ["MCP_SERVERS", "mcpServers"],
  ["mcpServer", "mcpServers"],
  ["mpcServers", "mcpServers"],
  ["severs", "servers"],
  ["disableTools", "disabledTools"],
  ["prot", "port"],
  ["URL", "url"],
  ["call_timeout_ms", "callTimeoutMs"],
])("%s means %s", (written, meant) => {
  expect(nearestName(written, known)).toBe(meant);
});

test.each(["", "x", "en", "cw", "theme", "sandbox", "timeout", "mcpServersOfMyFriend", "x".repeat(100_000)])(
  "%.30s is no mistake of typing",
  (written) => {
    expect(nearestName(written, known)).toBeUndefined();
  },
);
