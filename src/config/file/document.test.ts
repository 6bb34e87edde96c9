import { describe, expect, test } from "vitest";
import { configDirectory, loadText, refusalOf } from "../../../test/harness/config-text.ts";

describe("FAULT 87: what is wrong in the file is refused with its place", () => {
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
      'toolyard.json:2:2: the key "a" is here a second time; keep one',
    ],
    ['{ "mcpServers": [] }', "toolyard.json:1:17: mcpServers: expected an object with one member per server"],
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
    [
      '{ "mcpServers": { "__proto__": { "command": "x", "a": 1 } } }',
      'toolyard.json:1:19: the key "__proto__" is not allowed',
    ],
  ])("%j", async (text, expected) => {
    expect(await refusalOf(text)).toContain(expected);
  });

  test("all problems are told at once, those of single servers beside those of the file", async () => {
    const text = `{
      "mcpServers": { "a": { "command": 7, "args": "x", "priority": "urgent" }, "b": { "url": "ftp://y" } },
      "performance": { "cacheTimeout": 0 },
      "toolyard": { "port": "3001", "exposure": "all", "auth": [], "limits": { "jsonDepth": 1.5, "sessions": 0 }, "host": "\${GONE}" }
    }`;
    expect(await refusalOf(text)).toBe(
      [
        "11 problems:",
        "toolyard.json:4:123: toolyard.host: the variable GONE is not set",
        "toolyard.json:4:64: toolyard.auth: expected an object, found an array",
        "toolyard.json:4:29: toolyard.port: expected a number, found a string",
        'toolyard.json:4:49: toolyard.exposure: expected "meta" or "flat" or "namespaces" or "server", found a string',
        "toolyard.json:4:93: toolyard.limits.jsonDepth: expected a whole number from 8 to 1000",
        "toolyard.json:4:110: toolyard.limits.sessions: expected a whole number from 1 to 1000000",
        "toolyard.json:3:40: performance.cacheTimeout: expected a whole number from 1 to 2147483",
        "toolyard.json:2:41: mcpServers.a.command: expected a string, found a number",
        "toolyard.json:2:52: mcpServers.a.args: expected an array, found a string",
        'toolyard.json:2:69: mcpServers.a.priority: expected "high" or "normal" or "low", found a string',
        "toolyard.json:2:95: mcpServers.b.url: expected an absolute http:// or https:// URL",
      ].join("\n    "),
    );
  });

  test("each line that is no JSON is told, once", async () => {
    expect(await refusalOf('{\n "a": 1\n "b": 2,\n "c": tru,\n "d": "x\n}')).toBe(
      [
        "3 problems:",
        "toolyard.json:3:2: expected a comma",
        "toolyard.json:4:7: expected JSON",
        "toolyard.json:5:7: expected a closing double quote",
      ].join("\n    "),
    );
  });

  test("nested too deep for the limit, or for the parser", async () => {
    expect(await refusalOf(`{"a":${"[".repeat(65)}${"]".repeat(65)}}`)).toBe(
      "toolyard.json:1:70: nested deeper than 64 levels",
    );
    expect(await refusalOf('{"a":'.repeat(100_000))).toMatch(/^toolyard\.json:/);
    expect(await refusalOf(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toMatch(/^toolyard\.json:/);
  });

  test.each([" ", "\n", "\t", "\r\n"])("more between values than anybody writes: %j", async (blank) => {
    const most = 1_000_000 / blank.length;
    expect(await refusalOf(`{"a":${blank.repeat(most + 1)}1}`)).toMatch(/: more than 1000000 blanks between values$/);
    expect(await refusalOf(`{"toolyard":${blank.repeat(most)}1}`)).toContain("toolyard: expected an object");
  });

  test("no message shows a value", async () => {
    const secret = "canary-4711";
    for (const text of [`{ "toolyard": { "port": "${secret}" } }`]) {
      expect(await refusalOf(text)).not.toContain(secret);
    }
  });
});

describe("one wrong entry disables that server with its place, and the others are as they were", () => {
  const server = '{ "mcpServers": { "a": ';

  test.each([
    [
      `${server}{ "command": "x", "command": "y" } } }`,
      'toolyard.json:1:42: the key "command" is here a second time; keep one',
    ],
    [`${server}3 } }`, "toolyard.json:1:24: mcpServers.a: expected an object, found a number"],
    [
      `${server}{ "command": "x",\n "args": "y" } } }`,
      "toolyard.json:2:10: mcpServers.a.args: expected an array, found a string",
    ],
    [
      `${server}{ "command": "x", "args": ["y", [7]] } } }`,
      "toolyard.json:1:56: mcpServers.a.args[1]: expected a string, found an array",
    ],
    [`${server}{ "command": "" } } }`, "toolyard.json:1:24: mcpServers.a: expected `command` (a process) or `url`"],
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
    [
      `${server}{ "command": "x", "env": ["TOKEN=abc"] } } }`,
      "toolyard.json:1:49: mcpServers.a.env: expected an object, found an array",
    ],
    [
      `${server}{ "url": "http://y", "headers": ["A: b"] } } }`,
      "toolyard.json:1:56: mcpServers.a.headers: expected an object, found an array",
    ],
    [
      `${server}{ "command": "x", "tools": "send_mail" } } }`,
      "toolyard.json:1:51: mcpServers.a.tools: expected an object, found a string",
    ],
    [
      `${server}{ "command": "x", "args": { "0": "x" }, "env": { "A": [] } } } }`,
      "toolyard.json:1:50: mcpServers.a.args: expected an array, found an object; " +
        "toolyard.json:1:78: mcpServers.a.env.A: expected a string, found an array",
    ],
    [
      `${server}{ "args": 3, "type": "stdio" } } }`,
      "toolyard.json:1:34: mcpServers.a.args: expected an array, found a number; " +
        "toolyard.json:1:24: mcpServers.a: expected `command`, because this is a stdio server",
    ],
    [
      `${server}{ "command": "x", "__proto__": { "admin": true } } } }`,
      'toolyard.json:1:42: the key "__proto__" is not allowed',
    ],
  ])("%j", async (text, expected) => {
    const config = await loadText(text.replace(/ \} \}$/, ', "b": { "command": "y" } } }'));
    expect(config.servers[0]).toMatchObject({ slug: "a", disabledReason: expect.stringContaining(expected) });
    expect(config.servers[1]).toMatchObject({ slug: "b", disabledReason: undefined, transport: { command: "y" } });
    expect(config.warnings).toContain(
      `${configDirectory}/toolyard.json:1:24: server "a" is disabled: ${config.servers[0]?.disabledReason}`,
    );
  });

  test("an entry that is switched off is not complained about", async () => {
    const config = await loadText('{ "mcpServers": { "a": { "disabled": true, "command": 7 } } }');
    expect(config.servers[0]?.disabledReason).toBe("disabled in the configuration");
    expect(config.warnings).toEqual([]);
  });

  test("no reason shows a value", async () => {
    const secret = "canary-4711";
    for (const entry of [
      `{ "command": "x", "env": { "T": ["${secret}"] } }`,
      `{ "command": "x", "priority": "${secret}" }`,
      `{ "url": "${secret}" }`,
      `{ "type": "${secret}", "command": "x" }`,
    ]) {
      const { servers, warnings } = await loadText(`${server}${entry} } }`);
      expect(servers[0]?.disabledReason).toBeDefined();
      expect(warnings.join() + servers[0]?.disabledReason).not.toContain(secret);
    }
  });
});

describe("files of other clients, and near misses", () => {
  test.each([
    [
      '# mine\nmodel = "o3"\n\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"]\n',
      "toolyard.json:1:1: this is Codex's configuration, in TOML, and Toolyard reads JSON: take them over with `toolyard import`, or copy the servers to {",
    ],
    ['[tool]\nname = "x"\n', "toolyard.json:1:1: this is TOML, and Toolyard reads JSON: take them over"],
    [
      '{ "mcp": { "a": { "type": "local", "command": ["npx", "x"], "environment": {} } } }',
      "toolyard.json:1:10: mcp: this is OpenCode's configuration; take them over with `toolyard import`, or copy the servers to {",
    ],
    ['{ "mcp": { "a": { "type": "remote", "url": "https://x" } } }', "mcp: this is OpenCode's configuration"],
    [
      '{ "context_servers": { "a": { "source": "custom", "command": "x" } } }',
      "toolyard.json:1:22: context_servers: this is Zed's configuration; take them over with `toolyard import`, or copy the servers to {",
    ],
    [
      '{ "mcpservers": { "a": { "command": "x" } } }',
      "toolyard.json:1:17: mcpservers: nothing is read from here; did you mean `mcpServers`?",
    ],
    ['{ "mcp_servers": { "a": { "command": "x" } } }', "did you mean `mcpServers`?"],
    ['{ "mcpServer": { "a": { "command": "x" } } }', "did you mean `mcpServers`?"],
    ['{ "server": { "a": { "command": "x" } } }', "did you mean `servers`?"],
    ['{ "Toolyard": { "port": 1 } }', "toolyard.json:1:15: Toolyard: unknown settings; did you mean `toolyard`?"],
  ])("%j is refused by name", async (text, expected) => {
    expect(await refusalOf(text)).toContain(expected);
  });

  test("beside servers that are read, a near miss is a warning", async () => {
    const { servers, warnings } = await loadText(
      '{ "mcpServers": { "a": { "command": "x", "commend": [] } }, "mcpserver": {}, "input": [], "theme": 1 }',
    );
    expect(servers).toHaveLength(1);
    expect(warnings.map((warning) => warning.replace(`${configDirectory}/`, ""))).toEqual([
      "toolyard.json:1:74: mcpserver: unknown field, ignored; did you mean `mcpServers`?",
      "toolyard.json:1:87: input: unknown field, ignored; did you mean `inputs`?",
      "toolyard.json:1:100: unknown fields, ignored: theme",
      "toolyard.json:1:53: mcpServers.a.commend: unknown field, ignored; did you mean `command`?",
    ]);
  });

  test("what is no mistake of typing is not guessed", async () => {
    const { warnings } = await loadText(
      '{ "mcpServers": { "a": { "command": "x", "cmd": 1, "colour": 1 } }, "hooks": 1 }',
    );
    expect(warnings.join()).not.toContain("did you mean");
    expect(warnings).toHaveLength(3);
  });
});

test("FAULT 93: keys that are no data are refused with their place, and nothing is polluted", async () => {
  expect(await refusalOf('{ "mcpServers": { "__proto__": { "command": "x" } } }')).toBe(
    'toolyard.json:1:19: the key "__proto__" is not allowed',
  );
  for (const entry of [
    '{ "command": "x", "__proto__": { "admin": true } }',
    '{ "command": "x", "env": { "constructor": "y" } }',
  ]) {
    const config = await loadText(`{ "mcpServers": { "a": ${entry} } }`);
    expect(config.servers[0]?.disabledReason).toMatch(
      /^toolyard\.json:1:\d+: the key "(__proto__|constructor)" is not allowed$/,
    );
  }
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test("FAULT 87: of many mistakes in one line the first is told, and places behind long lines are right", async () => {
  const long = `"a": "${"x".repeat(700)}",`;
  const text = `{\n  ${long}\n  "toolyard": { "port": "3001" },\n  ${", ".repeat(5_000)}\n  "b" 1 }`;
  const problems = (await refusalOf(text)).split("\n");
  expect(problems.slice(1).map((line) => line.trim().split(": ")[0])).toEqual([
    "toolyard.json:4:3",
    "toolyard.json:5:7",
  ]);
  const wrong = `{ ${long} ${" ".repeat(2_000)}\n\n${" ".repeat(600)}"toolyard": { "port": "3001" } }`;
  expect(await refusalOf(wrong)).toContain("toolyard.json:3:623: toolyard.port");
});
