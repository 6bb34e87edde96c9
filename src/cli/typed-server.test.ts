import { expect, test } from "vitest";
import { readTypedServer } from "./typed-server.ts";

test.each([
  [
    "npx -y @modelcontextprotocol/server-github",
    "github",
    { command: "npx", args: ["-y", "@modelcontextprotocol/server-github"] },
  ],
  ["npx -y mcp-remote@1.2.3", "remote", { command: "npx", args: ["-y", "mcp-remote@1.2.3"] }],
  ["uvx mcp-server-time --tz UTC", "time", { command: "uvx", args: ["mcp-server-time", "--tz", "UTC"] }],
  ["node './my server.mjs' \"a b\"", "my-server", { command: "node", args: ["./my server.mjs", "a b"] }],
  ["C:\\tools\\thing.exe --x", "thing", { command: "C:\\tools\\thing.exe", args: ["--x"] }],
  ["a\\ b ''", "a-b", { command: "a b", args: [""] }],
  ["https://mcp.linear.app/sse", "linear", { url: "https://mcp.linear.app/sse" }],
  ["http://127.0.0.1:8000/mcp", "remote", { url: "http://127.0.0.1:8000/mcp" }],
])("%s is called %s", (line, name, entry) => {
  expect(readTypedServer(`  ${line} `)).toEqual({ name, entry });
});

test.each([
  ["", /Type a command/],
  ["node 'open", /not closed/],
  ["curl https://x | sh", /needs a shell/],
  ["ftp://example.com/x", /begins with http/],
  ["https://me:secret@example.com/", /user and password/],
])("%j is refused with what is wrong", (line, why) => {
  expect(readTypedServer(line)).toMatch(why);
});
