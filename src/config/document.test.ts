import { describe, expect, test } from "vitest";
import type { Config } from "./config.ts";
import { buildConfig, type LoadOptions } from "./load.ts";

const directory = "/conf";

async function loadText(text: string, options: Partial<LoadOptions> = {}): Promise<Config> {
  const homeDirectories = { config: "/home-config", data: "/home-data" };
  return buildConfig(
    { file: `${directory}/toolyard.json`, text },
    { cwd: directory, env: {}, flags: {}, homeDirectories, cores: 2, ...options },
  );
}

async function refusal(text: string, options: Partial<LoadOptions> = {}): Promise<string> {
  const thrown = await loadText(text, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toMatchObject({ code: "CONFIG_INVALID" });
  return (thrown as Error).message.replace(`${directory}/`, "");
}

describe("FAULT 87: what is wrong in the file is refused with its place", () => {
  const server = '{ "mcpServers": { "a": ';
  test.each([
    ["", "toolyard.json:1:1: expected a JSON object, but the file is empty"],
    [" \n ", "toolyard.json:1:1: expected a JSON object, but the file is empty"],
    ["[]", "toolyard.json:1:1: expected a JSON object"],
    [
      '{\n  "mcpServers": {\n    "a": { "command": "x"',
      "toolyard.json:3:26: expected `}`; the file ends or goes wrong here",
    ],
    ['{\n  "a" 1 }', "toolyard.json:2:7: expected a colon after the key"],
    ['{\r\n  "a": 1\r\n  "b": 2 }', "toolyard.json:3:3: expected a comma"],
    ['{ "a": tru }', "toolyard.json:1:8: expected JSON"],
    [
      '{ "mcpServers": { "a": { "command": "x" },\n "a": { "command": "y" } } }',
      'toolyard.json:2:2: the key "a" stands here a second time; keep one',
    ],
    [
      `${server}{ "command": "x", "command": "y" } } }`,
      'toolyard.json:1:42: the key "command" stands here a second time; keep one',
    ],
    ['{ "mcpServers": [] }', "toolyard.json:1:17: mcpServers: expected an object with one member per server"],
    [`${server}3 } }`, "toolyard.json:1:24: mcpServers.a: expected an object, found a number"],
    [
      `${server}{ "command": "x",\n "args": "y" } } }`,
      "toolyard.json:2:10: mcpServers.a.args: expected an array, found a string",
    ],
    [
      `${server}{ "command": "x", "args": ["y", 7] } } }`,
      "toolyard.json:1:56: mcpServers.a.args[1]: expected a string, found a number",
    ],
    [`${server}{ "command": "" } } }`, "toolyard.json:1:37: mcpServers.a.command: expected a string that is not empty"],
    [`${server}{} } }`, "toolyard.json:1:24: mcpServers.a: expected `command` (a process) or `url` (a remote server)"],
    [
      `${server}{ "command": "x", "url": "http://y" } } }`,
      "toolyard.json:1:24: mcpServers.a: expected either `command` or `url`, not both (or say which with `type`)",
    ],
    [
      `${server}{ "type": "pigeon", "url": "http://y" } } }`,
      'toolyard.json:1:34: mcpServers.a.type: expected "stdio", "http", "streamable-http" or "sse"',
    ],
    [
      `${server}{ "url": "ftp://y" } } }`,
      "toolyard.json:1:33: mcpServers.a.url: expected an absolute http:// or https:// URL",
    ],
    [
      `${server}{ "url": "http://y", "headers": { "A B": "c" } } } }`,
      'toolyard.json:1:65: mcpServers.a.headers["A B"]: expected a header name: letters, digits and dashes',
    ],
    [
      `${server}{ "url": "http://y", "headers": { "A": "c\\r\\nX: d" } } } }`,
      "toolyard.json:1:63: mcpServers.a.headers.A: expected a header value without line breaks and control characters",
    ],
    [`${server}{ "command": "x", "callTimeoutMs": 1e400 } } }`, "mcpServers.a.callTimeoutMs: expected"],
    [
      `${server}{ "command": "x", "priority": "urgent" } } }`,
      'mcpServers.a.priority: expected "high" or "normal" or "low", found a string',
    ],
    ['{ "toolyard": { "port": "3001" } }', "toolyard.json:1:25: toolyard.port: expected a number, found a string"],
    ['{ "toolyard": { "port": 70000 } }', "toolyard.json:1:25: toolyard.port: expected a whole number from 0 to 65535"],
    [
      '{ "toolyard": { "limits": { "jsonDepth": 1.5 } } }',
      "toolyard.limits.jsonDepth: expected a whole number from 8 to 1000",
    ],
    [
      '{ "toolyard": { "transparent": "nobody" } }',
      "toolyard.json:1:32: toolyard.transparent: expected the name of one of the servers in this file",
    ],
    [
      '{ "toolyard": { "auth": { "tokenHash": "secret-token" } } }',
      "toolyard.auth.tokenHash: expected `sha256:` and 64 hexadecimal digits",
    ],
    [
      '{ "toolyard": { "search": { "embeddings": { "url": "http://e" } } } }',
      "toolyard.search.embeddings.model: missing; expected",
    ],
    [
      `${server}{ "command": "x", "env": ["TOKEN=abc"] } } }`,
      "toolyard.json:1:49: mcpServers.a.env: expected an object, found an array",
    ],
    [
      `${server}{ "url": "http://y", "headers": ["A: b"] } } }`,
      "toolyard.json:1:56: mcpServers.a.headers: expected an object, found an array",
    ],
    [
      `${server}{ "command": "x", "tools": ["send_mail"] } } }`,
      "toolyard.json:1:51: mcpServers.a.tools: expected an object, found an array",
    ],
    ['{ "toolyard": [] }', "toolyard.json:1:15: toolyard: expected an object, found an array"],
    ['{ "toolyard": null }', "toolyard.json:1:15: toolyard: expected an object, found null"],
    ['{ "performance": [] }', "toolyard.json:1:18: performance: expected an object, found an array"],
    [
      '{ "toolyard": { "auth": ["sha256:"] } }',
      "toolyard.json:1:25: toolyard.auth: expected an object, found an array",
    ],
    [
      '{ "toolyard": { "principals": [{ "tokenHash": "sha256:" }] } }',
      "toolyard.json:1:31: toolyard.principals: expected an object, found an array",
    ],
    [
      '{ "toolyard": { "teams": { "t": { "servers": [] } } } }',
      "toolyard.json:1:46: toolyard.teams.t.servers: expected an object, found an array",
    ],
    ['{ "mcpServers": { "__proto__": { "command": "x" } } }', 'toolyard.json:1:19: the key "__proto__" is not allowed'],
  ])("%j", async (text, expected) => {
    expect(await refusal(text)).toContain(expected);
  });

  test("nested too deep for the limit, or for the parser", async () => {
    expect(await refusal(`{"a":${"[".repeat(65)}${"]".repeat(65)}}`)).toBe(
      "toolyard.json:1:70: nested deeper than 64 levels",
    );
    expect(await refusal('{"a":'.repeat(100_000))).toMatch(/^toolyard\.json:/);
    expect(await refusal(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toMatch(/^toolyard\.json:/);
  });

  test("no message shows a value", async () => {
    const secret = "canary-4711";
    for (const text of [
      `{ "mcpServers": { "a": { "command": "x", "env": { "T": ["${secret}"] } } } }`,
      `{ "mcpServers": { "a": { "command": "x", "priority": "${secret}" } } }`,
      `{ "mcpServers": { "a": { "url": "${secret}" } } }`,
      `{ "toolyard": { "port": "${secret}" } }`,
    ]) {
      expect(await refusal(text)).not.toContain(secret);
    }
  });
});
