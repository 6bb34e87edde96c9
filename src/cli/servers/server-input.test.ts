import { expect, test } from "vitest";
import { readTypedServer } from "./server-input.ts";

const command = (...words: string[]) => ({ kind: "command", words });

test.each([
  ["npx -y @modelcontextprotocol/server-github", "github", command("npx", "-y", "@modelcontextprotocol/server-github")],
  ["npx -y mcp-remote@1.2.3", "remote", command("npx", "-y", "mcp-remote@1.2.3")],
  ["uvx mcp-server-time --tz UTC", "time", command("uvx", "mcp-server-time", "--tz", "UTC")],
  ["node './my server.mjs' \"a b\"", "my-server", command("node", "./my server.mjs", "a b")],
  ["C:\\tools\\thing.exe --x", "thing", command("C:\\tools\\thing.exe", "--x")],
  ["a\\ b ''", "a-b", command("a b", "")],
  ["https://mcp.linear.app/sse", "linear", { kind: "url", url: "https://mcp.linear.app/sse" }],
  ["http://127.0.0.1:8000/mcp", "remote", { kind: "url", url: "http://127.0.0.1:8000/mcp" }],
  ["npm:@acme/server-x@1.0.0", "x", { kind: "package", registry: "npm", name: "@acme/server-x", version: "1.0.0" }],
  ["io.github.acme/weather", "weather", { kind: "registry", name: "io.github.acme/weather", version: undefined }],
])("%s is called %s", (line, name, source) => {
  expect(readTypedServer(`  ${line} `)).toEqual({ name, source });
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
