import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, mainFile } from "../../harness/gateway.ts";
import { execute } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { discover, failureOf, startFaulty, untilOnline } from "../servers/faulty-gateway.ts";

const secret = "wolf-canary-71d2";

describe("a configuration that cannot be used at the first start", () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-config-"));
  });
  afterAll(async () => await rm(directory, { recursive: true, force: true }));

  /** What `toolyard serve` says about a file, and how it ends. */
  async function serve(
    content: string | Buffer,
  ): Promise<{ code: number | null; stdout: string; stderr: string; file: string }> {
    const file = join(directory, "toolyard.json");
    await writeFile(file, content);
    const child = spawn(
      process.execPath,
      [mainFile, "serve", "--config", file, "--port", "0", "--data-dir", join(directory, "data")],
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, WOLF: secret } },
    );
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
    return { code, stdout, stderr, file };
  }

  test.each([
    ["half-written", '{\n  "mcpServers": {\n    "a": { "command": "node", "args": ["x"', /toolyard\.json:3:\d+/],
    ["empty", "", /toolyard\.json:1:1/],
    ["only white space", "  \n\n ", /toolyard\.json:\d+:\d+/],
    ["not JSON", "mcpServers: yes", /toolyard\.json:1:1/],
    ["an array", "[]", /toolyard\.json:1:1/],
    ["a string", '"mcpServers"', /toolyard\.json:1:1/],
    ["servers that are an array", '{\n  "mcpServers": []\n}', /toolyard\.json:2:\d+/],
    [
      "a time that is a text",
      '{ "mcpServers": {}, "toolyard": {\n  "instances": { "idleTimeoutMs": "soon" } } }',
      /toolyard\.json:2:\d+/,
    ],
    [
      "a key that stands twice",
      '{\n  "mcpServers": {\n    "a": { "command": "x" },\n    "a": { "command": "y" }\n  }\n}',
      /toolyard\.json:4:5/,
    ],
    ["a port out of range", '{ "toolyard": {\n\n  "port": 99999 } }', /toolyard\.json:3:\d+/],
  ])("FAULT 87: %s is refused with line and column, and ends with code 2", async (_what, content, place) => {
    const { code, stdout, stderr } = await serve(content);
    expect(stderr).toMatch(place);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toMatch(/ {4}at |INTERNAL/);
  });

  test("FAULT 87: fifty megabytes are refused without being read to the end", async () => {
    const { code, stderr } = await serve(Buffer.alloc(50 * 1024 * 1024, 0x20));
    expect(code).toBe(2);
    expect(stderr).toMatch(/toolyard\.json.*(large|bytes|MiB)/s);
  });

  test("FAULT 87: bytes that are no UTF-8 are refused", async () => {
    const { code, stderr } = await serve(Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]));
    expect(code).toBe(2);
    expect(stderr).toContain("toolyard.json");
  });

  test("no refusal shows a value that a variable brought in", async () => {
    const { code, stderr } = await serve('{ "toolyard": { "port": "${WOLF}" } }');
    expect(code).toBe(2);
    expect(stderr).not.toContain(secret);
  });
});

test("FAULT 87: a server of wrong types is disabled with line and column, and the rest is served", async () => {
  const gateway = await startFaulty({
    servers: { text: Object("node"), list: { command: "node", args: "${WOLF}" } },
    env: { WOLF: secret },
  });
  try {
    await gateway.stillServes();
    for (const [slug, reason] of [
      ["text", /^toolyard\.json:1:\d+: mcpServers\.text: expected an object, found a string/],
      ["list", /^toolyard\.json:1:\d+: mcpServers\.list\.args: expected an array, found a string$/],
    ] as const) {
      const { servers } = await discover(gateway, { query: "" });
      expect(servers.find((row: { server: string }) => row.server === slug)).toMatchObject({
        status: "disabled",
        reason: expect.stringMatching(reason),
      });
    }
    expect(gateway.stderr()).not.toContain(secret);
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});

test("FAULT 87: of names that look the same the first counts, and the rest is served", async () => {
  const gateway = await startFaulty({
    servers: { A: badServer("--tool-name", "x", "--server-name", "first"), a: badServer("--tool-name", "x") },
  });
  try {
    await gateway.stillServes();
    await untilOnline(gateway, "A");
    expect(gateway.logged("cannot be told apart").length).toBeGreaterThan(0);
    expect(await execute(gateway.url, "A:x")).toMatchObject({ structuredContent: { server: "first" } });
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});

test("FAULT 88: a variable that is missing disables its server with a reason, and no value is printed", async () => {
  const gateway = await startFaulty({
    servers: {
      lacks: { ...badServer("--tool-name", "x"), env: { TOKEN: "${NOBODY_HAS_THIS}", OTHER: "${WOLF}" } },
      has: { ...badServer("--behaviours", "env"), env: { TOKEN: "${WOLF}", STANDARD: "${NOBODY_HAS_THIS:-standard}" } },
      url: { type: "http", url: "http://${NOBODY_HAS_THIS}/mcp" },
    },
    env: { WOLF: secret },
    args: ["--log-level", "debug"],
  });
  try {
    await untilOnline(gateway, "has");
    const { servers } = await discover(gateway, { query: "" });
    for (const slug of ["lacks", "url"]) {
      expect(servers.find((row: { server: string }) => row.server === slug)).toMatchObject({
        status: "disabled",
        reason: expect.stringContaining("NOBODY_HAS_THIS is not set"),
      });
      expect(failureOf(await execute(gateway.url, `${slug}:x`))).toMatchObject({
        code: "SERVER_DISABLED",
        message: expect.stringContaining("NOBODY_HAS_THIS"),
      });
    }
    const given = JSON.parse((await execute(gateway.url, "has:env")).content[0].text);
    expect(given).toMatchObject({ TOKEN: secret, STANDARD: "standard" });
    expect(gateway.stdout() + gateway.stderr() + JSON.stringify(servers)).not.toContain(secret);
    await gateway.stillServes();
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});

test("FAULT 92: arguments arrive byte for byte, whatever a shell would make of them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-argv-"));
  const file = join(directory, "argv.json");
  const args = [
    ...[
      "two words",
      '"quoted"',
      "it's",
      ";",
      "$(echo x)",
      "`echo x`",
      "$HOME",
      "line\nbreak",
      "-leading",
      "--flag=a b",
      "--",
    ],
    ...["*", "~", "\\", "%PATH%", "", "漢字 😀", "&&", "|", ">file", "$$"],
  ];
  const script = 'require("node:fs").writeFileSync(process.env.OUT, JSON.stringify(process.argv.slice(1)))';
  const gateway = await startFaulty({
    servers: { argv: { command: process.execPath, args: ["-e", script, "--", ...args], env: { OUT: file } } },
  });
  try {
    // Read while it is being written, the file is empty.
    await until(async () => (await readFile(file, "utf8").catch(() => "")) === JSON.stringify(args));
    await gateway.stillServes();
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }
});
