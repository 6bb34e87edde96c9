import { longestMs } from "../../kernel/limits.ts";
import { describe, expect, test } from "vitest";
import { configDirectory, loadText, loadValue } from "../../../test/harness/config-text.ts";
import type { ServerConfig } from "../config.ts";
import { createConfigSecrets } from "../secrets.ts";

import type { LoadOptions } from "../load.ts";

async function loadServer(entry: unknown, options: Partial<LoadOptions> = {}): Promise<ServerConfig> {
  const { servers } = await loadValue({ mcpServers: { only: entry } }, options);
  return servers[0]!;
}

describe("servers as other clients write them", () => {
  test.each([
    [{ type: "streamable-http", url: "https://a/mcp" }, "http"],
    [{ type: "streamableHttp", url: "https://a/mcp" }, "http"],
    [{ type: "http", url: "https://a/mcp" }, "http"],
    [{ type: "sse", url: "https://a/mcp" }, "sse"],
    [{ transport: "sse", url: "https://a/mcp" }, "sse"],
    [{ serverUrl: "https://a/mcp" }, "http"],
    [{ httpUrl: "https://a/mcp", url: "https://other" }, "http"],
    [{ url: "https://a/mcp" }, "http"],
  ])("%j", async (entry, kind) => {
    expect((await loadServer(entry)).transport).toEqual({
      kind,
      url: "https://a/mcp",
      headers: {},
    });
  });

  test("the way to a server: a proxy or none, and certificates, whose paths start at the file", async () => {
    const tls = { caFile: "ca.pem", certFile: "/abs/cert.pem", keyFile: "keys/key.pem", passphrase: "${PHRASE}" };
    const options = { env: { PHRASE: "sesame-open" } };
    const config = await loadValue(
      {
        mcpServers: {
          a: { url: "https://a/mcp", proxy: "http://u:proxy-pw@proxy:3128", tls },
          b: { url: "https://b/mcp", proxy: false },
          c: { command: "x", proxy: false },
        },
      },
      options,
    );
    const { servers, warnings } = config;
    expect(servers[0]?.transport).toMatchObject({
      proxy: "http://u:proxy-pw@proxy:3128",
      tls: {
        caFile: "/conf/ca.pem",
        certFile: "/abs/cert.pem",
        keyFile: "/conf/keys/key.pem",
        passphrase: "sesame-open",
      },
    });
    expect(servers[1]?.transport).toMatchObject({ proxy: false });
    expect([...createConfigSecrets(() => config)()]).toEqual(expect.arrayContaining(["proxy-pw", "sesame-open"]));
    expect(warnings).toEqual([expect.stringContaining("has no effect here")]);
  });

  test.each([
    [{ proxy: "proxy:3128" }, "expected the http:// or https:// URL of a proxy"],
    [{ proxy: true }, "expected false or string"],
    [{ proxy: "socks5://proxy:1080" }, "expected the http:// or https:// URL of a proxy"],
    [{ tls: { certFile: "a.pem" } }, "expected `certFile` and `keyFile` together"],
    [{ tls: { caFile: ["a.pem"] } }, "caFile"],
  ])("%j is refused", async (fields, why) => {
    const { disabledReason } = await loadServer({ url: "https://a/mcp", ...fields });
    expect(disabledReason).toContain(why);
  });

  test("a variable of the proxy that has no value is told as such", async () => {
    const { disabledReason } = await loadServer({ url: "https://a/mcp", proxy: "${CORP_PROXY}" });
    expect(disabledReason).toContain("CORP_PROXY");
    expect(disabledReason).not.toContain("expected the http");
  });

  test("`servers` stands for `mcpServers`, also inside VS Code's settings; the order is that of the file", async () => {
    const config = await loadText(
      '{ "servers": { "b": { "command": "x" }, "1": { "type": "stdio", "command": "x" } }, "mcp": { "servers": { "c": { "command": "y" } } } }',
    );
    expect(config.servers.map(({ slug }) => slug)).toEqual(["b", "1", "c"]);
  });

  test.each([{ disabled: true }, { enabled: false }])("%j switches a server off, without a warning", async (entry) => {
    const config = await loadValue({ mcpServers: { a: { command: "x", ...entry } } });
    expect(config.servers[0]?.disabledReason).toBe("disabled in the configuration");
    expect(config.warnings).toEqual([]);
  });

  test("unknown fields are warnings with their place, in servers, settings and overrides", async () => {
    const { warnings } = await loadText(
      `{ "mcpServers": { "a": { "command": "x", "sandboxing": [] } }, "globalShortcut": "F1", "theme": 1,
        "toolyard": { "prot": 3, "limits": { "session": 1 }, "principals": { "bob": { "servers": { "a": { "command": "sh", "cwd": "/" } } } } } }`,
    );
    const texts = warnings.map((warning) => warning.slice(configDirectory.length + 1));
    expect(texts).toEqual([
      "toolyard.json:1:82: unknown fields, ignored: globalShortcut, theme",
      "toolyard.json:1:56: mcpServers.a.sandboxing: unknown field, ignored",
      "toolyard.json:2:31: toolyard.prot: unknown field, ignored; did you mean `port`?",
      "toolyard.json:2:57: toolyard.limits.session: unknown field, ignored; did you mean `sessions`?",
      "toolyard.json:2:118: toolyard.principals.bob.servers.a.command: unknown field, ignored",
      "toolyard.json:2:131: toolyard.principals.bob.servers.a.cwd: unknown field, ignored",
    ]);
  });

  test("what nothing reads is told of a server that cannot be used, too: it may be why", async () => {
    const { warnings } = await loadText(`{ "mcpServers": { "a": { "comand": "x" }, "b": { "command": "x" } } }`);
    expect(warnings.map((warning) => warning.slice(configDirectory.length + 1))).toEqual([
      "toolyard.json:1:36: mcpServers.a.comand: unknown field, ignored; did you mean `command`?",
      expect.stringContaining('server "a" is disabled: toolyard.json:1:24: mcpServers.a: expected `command`') as string,
    ]);
  });

  test("every field of a server arrives; what it does not say comes from the settings", async () => {
    const own = {
      namespace: "gh",
      displayName: "GitHub",
      icon: "🐙",
      category: "code",
      priority: "high",
      scope: "user",
      roots: ["file:///data/a%20b"],
      startTimeoutMs: 1000,
      discoveryTimeoutMs: 2000,
      callTimeoutMs: 3000,
      maxCallTimeoutMs: 4000,
      idleTimeoutMs: 5000,
      retry: false,
      strictResults: true,
      interactive: true,
      tools: {
        allow: ["get_*"],
        deny: ["x"],
        rename: { a: "b" },
        describe: { a: "does a" },
        phrases: { a: ["do it"] },
      },
      required: { user: ["env.TOKEN"], team: ["headers.X-Org"] },
    };
    expect(await loadServer({ command: "x", ...own })).toMatchObject(own);
    const settings = {
      instances: { idleTimeoutMs: 0, callTimeoutMs: 7_200_000, startTimeoutMs: 5 * 60_000 },
    };
    const { servers } = await loadValue({
      mcpServers: { "my-Server": { command: "x" } },
      toolyard: settings,
    });
    expect(servers[0]).toMatchObject({
      slug: "my-Server",
      key: "my-Server",
      displayName: "my-Server",
      namespace: "my_server",
      priority: "normal",
      scope: "shared",
      roots: undefined,
      startTimeoutMs: 300_000,
      discoveryTimeoutMs: 45_000,
      callTimeoutMs: 7_200_000,
      maxCallTimeoutMs: 7_200_000,
      idleTimeoutMs: longestMs,
      retry: true,
      strictResults: false,
      interactive: false,
      tools: { allow: undefined, deny: [], rename: {}, describe: {}, phrases: {} },
      required: { user: [], team: [] },
    });
  });

  test("roots are folders, relative to the file, or file URIs; variables and ~ mean what they do elsewhere", async () => {
    const roots = [".", "../b c", "/abs", "~", "~/notes", "${PLACE}", "file:///x"];
    const { servers } = await loadValue(
      { mcpServers: { a: { command: "x", roots, scope: "client" }, b: { command: "x" } } },
      { env: { HOME: "/home/me", PLACE: "/place" }, cwd: "/elsewhere" },
    );
    expect(servers[0]).toMatchObject({ scope: "client" });
    expect(servers[0]?.roots).toEqual([
      "file:///conf",
      "file:///b%20c",
      "file:///abs",
      "file:///home/me",
      "file:///home/me/notes",
      "file:///place",
      "file:///x",
    ]);
    expect(servers[0]?.hash).not.toBe(servers[1]?.hash);
    const { disabledReason } = await loadServer({ command: "x", roots: ["https://example.com/"] });
    expect(disabledReason).toContain("mcpServers.only.roots[0]: expected the path of a folder, or a file:// URI");
  });

  test("relative paths start at the file, not at the working directory; a bare command is left to PATH", async () => {
    const a = { command: "./run.sh", cwd: "sub" };
    const b = { command: "node", args: ["../x.js"] };
    const { servers } = await loadValue({ mcpServers: { a, b } }, { cwd: "/elsewhere" });
    expect(servers[0]?.transport).toMatchObject({ command: "/conf/run.sh", cwd: "/conf/sub" });
    expect(servers[1]?.transport).toMatchObject({
      command: "node",
      args: ["../x.js"],
      cwd: "/conf",
    });
  });

  test("FAULT 92: arguments with spaces, quotes, `;`, `$()`, newline and leading `-` stay byte for byte", async () => {
    const args = [
      "a b",
      'q"q',
      "it's",
      "; rm -rf /",
      "$(id)",
      "`id`",
      "a\nb",
      "-rf",
      "--",
      "",
      "$HOME",
      "${not a variable",
      "%PATH%",
      "ü\u0301\u{1F600}",
      "\\n",
    ];
    expect((await loadServer({ command: "x", args }, { env: { HOME: "/h", id: "no" } })).transport).toMatchObject({
      args,
    });
  });
});

describe("names", () => {
  test("FAULT 54: of two servers that look the same the later is disabled with a reason, and its slug is another one", async () => {
    const entry = { command: "x" };
    const keys = [
      "github",
      "GitHub",
      "gith\u0443b",
      "caf\u00e9",
      "cafe\u0301",
      "my server",
      "my-server",
      "p\u0430y",
      "pay",
      "\u0645\u0648\u0633",
      "\u4e2d\u6587",
    ];
    const { servers, warnings } = await loadValue({
      mcpServers: Object.fromEntries(keys.map((key) => [key, entry])),
    });
    const usable = servers.filter(({ disabledReason }) => disabledReason === undefined).map(({ key }) => key);
    expect(usable).toEqual([
      "github",
      "gith\u0443b",
      "caf\u00e9",
      "my server",
      "p\u0430y",
      "\u0645\u0648\u0633",
      "\u4e2d\u6587",
    ]);
    expect(servers[1]).toMatchObject({
      displayName: "GitHub",
      disabledReason: 'its name cannot be told apart from that of "github", which comes first; rename one',
    });
    expect(new Set(servers.map(({ slug }) => slug.toLowerCase())).size).toBe(keys.length);
    expect(warnings).toHaveLength(4);
  });
});

describe("servers that hold state", () => {
  const browser = { command: "npx", args: ["-y", "@playwright/mcp@latest"] };
  const idleOf = async (entry: object, instances: object = {}) => {
    const { servers } = await loadValue({ mcpServers: { only: entry }, toolyard: { instances } });
    const { stateful, staysForClients, idleTimeoutMs } = servers[0]!;
    return { stateful, staysForClients, idleTimeoutMs };
  };

  test.each<[object, object, object]>([
    [{ command: "x" }, {}, { stateful: false, staysForClients: false, idleTimeoutMs: 180_000 }],
    [browser, {}, { stateful: true, staysForClients: true, idleTimeoutMs: 7_200_000 }],
    [{ ...browser, stateful: false }, {}, { stateful: false, staysForClients: false, idleTimeoutMs: 180_000 }],
    [{ command: "x", stateful: true }, {}, { stateful: true, staysForClients: true, idleTimeoutMs: 7_200_000 }],
    [{ ...browser, idleTimeoutMs: 1_000 }, {}, { stateful: true, staysForClients: false, idleTimeoutMs: 1_000 }],
    [{ ...browser, idleTimeoutMs: 0 }, {}, { stateful: true, staysForClients: false, idleTimeoutMs: longestMs }],
    [browser, { statefulIdleTimeoutMs: 600_000 }, { stateful: true, staysForClients: true, idleTimeoutMs: 600_000 }],
    [browser, { statefulIdleTimeoutMs: 0 }, { stateful: true, staysForClients: true, idleTimeoutMs: longestMs }],
    [browser, { idleTimeoutMs: 0 }, { stateful: true, staysForClients: true, idleTimeoutMs: longestMs }],
    [
      browser,
      { idleTimeoutMs: 9_000_000, statefulIdleTimeoutMs: 1_000 },
      { stateful: true, staysForClients: true, idleTimeoutMs: 9_000_000 },
    ],
  ])("%j with %j", async (entry, instances, expected) => {
    expect(await idleOf(entry, instances)).toEqual(expected);
  });
});
