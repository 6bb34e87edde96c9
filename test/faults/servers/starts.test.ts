import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../../harness/gateway.ts";
import { execute, rpc } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import {
  discover,
  failureOf,
  faultyServer,
  startFaulty,
  type FaultyGateway,
  type FaultyServer,
} from "./faulty-gateway.ts";

describe("servers that do not come up", () => {
  let gateway: FaultyGateway;
  let directory: string;
  let slow: FaultyServer;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-starts-"));
    await writeFile(join(directory, "plain.txt"), "no program");
    await chmod(join(directory, "plain.txt"), 0o644);
    await writeFile(join(directory, "no-interpreter"), "#!/no/such/interpreter\n");
    await chmod(join(directory, "no-interpreter"), 0o755);
    slow = await faultyServer("http legacy", "--hang-on-initialize");
    gateway = await startFaulty({
      servers: {
        "no-command": { command: "no-such-command-anywhere" },
        "no-file": { command: join(directory, "absent") },
        "no-right": { command: join(directory, "plain.txt") },
        "no-interpreter": { command: join(directory, "no-interpreter") },
        folder: { command: directory },
        "no-cwd": { ...badServer("--tool-name", "x"), cwd: join(directory, "absent") },
        "hangs-legacy": { ...badServer("--hang-on-initialize"), startTimeoutMs: 2_000 },
        "hangs-silent": { ...badServer("--hang-on-initialize", "--on-discover", "silent"), startTimeoutMs: 2_000 },
        "hangs-modern": { ...badServer("--hang-on-initialize", "--era", "modern"), startTimeoutMs: 2_000 },
        "hangs-http": { ...slow.entry, startTimeoutMs: 2_000 },
        "hangs-list": { ...badServer("--hang-on-list"), discoveryTimeoutMs: 1_000 },
        "never-reads": { ...badServer("--never-read-stdin"), startTimeoutMs: 2_000 },
        sleepy: { ...badServer("--start-delay", "1500", "--tool-name", "late") },
        refused: { type: "http", url: "http://127.0.0.1:9/mcp" },
        nonsense: { command: "/bin/echo", args: ["this is no server"] },
      },
    });
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    await slow[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test("a server that is down, slow or broken delays and hides no other: tools/list and a search are answered with what there is", async () => {
    expect((await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools).toHaveLength(4);
    await gateway.stillServes();
    const found = await discover(gateway, { query: "echo" });
    expect(found.tools.map((tool: { tool_path: string }) => tool.tool_path)).toContain("good:echo");
  });

  test.each([
    ["no-command", "no such command"],
    ["no-file", "no such file"],
    ["no-right", "may not be executed"],
    ["no-interpreter", "interpreter"],
    ["folder", "is a directory"],
    ["no-cwd", "working directory"],
  ])("FAULT 64: a command that cannot be started is an error with a clear reason (%s)", async (slug, reason) => {
    await until(async () => statusOf(await servers(), slug) === "error");
    const failure = failureOf(await execute(gateway.url, `${slug}:x`));
    expect(["SPAWN_FAILED", "SERVER_FAILED"]).toContain(failure.code);
    expect(failure.message).toContain(reason);
    expect(failure.hint).not.toBe("");
    await gateway.stillServes();
  });

  test("FAULT 65: a server that hangs while it is greeted or listed fails at its limit; the others are listed meanwhile", async () => {
    const hanging = ["hangs-legacy", "hangs-silent", "hangs-modern", "hangs-http", "never-reads"];
    await until(async () => {
      const rows = await servers();
      return hanging.every((slug) => statusOf(rows, slug) === "error");
    });
    for (const slug of hanging)
      expect((await servers()).find((row) => row.server === slug)?.reason, slug).toContain("within 2 s");
    await until(async () => ["error", "offline"].includes(statusOf(await servers(), "hangs-list") ?? ""));
    expect(JSON.stringify(await execute(gateway.url, "hangs-list:x"))).toMatch(
      /SERVER_FAILED|UPSTREAM_TIMEOUT|SERVER_OFFLINE/,
    );
    expect(await execute(gateway.url, "sleepy:late")).toMatchObject({ structuredContent: { tool: "late" } });
    await gateway.stillServes();
  });

  test("a remote server that refuses connections is offline, and says so", async () => {
    await until(async () => statusOf(await servers(), "refused") === "offline");
    expect(failureOf(await execute(gateway.url, "refused:x"))).toMatchObject({ code: "SERVER_OFFLINE" });
  });

  test("a program that is no server is told from one that is", async () => {
    await until(async () =>
      ["error", "restarting", "permanently_failed"].includes(statusOf(await servers(), "nonsense") ?? ""),
    );
    expect(JSON.stringify(await execute(gateway.url, "nonsense:x"))).toMatch(/SERVER_|SPAWN_FAILED|UPSTREAM_CLOSED/);
    await gateway.stillServes();
  });

  interface Row {
    readonly server: string;
    readonly status: string;
    readonly reason?: string;
  }

  async function servers(): Promise<readonly Row[]> {
    return (await discover(gateway, { query: "" })).servers;
  }

  function statusOf(rows: readonly Row[], slug: string): string | undefined {
    return rows.find((row) => row.server === slug)?.status;
  }
});

test("FAULT 65: more hanging servers than may start at a time do not keep a good one from starting", async () => {
  const hanging = Array.from(
    { length: 8 },
    (_, index) => [`hangs-${index}`, badServer("--hang-on-initialize")] as const,
  );
  const gateway = await startFaulty({
    servers: Object.fromEntries(hanging),
    settings: { instances: { parallelStarts: 2 } },
  });
  try {
    await gateway.stillServes();
    const { servers } = await discover(gateway, { query: "" });
    for (const [slug] of hanging)
      expect(servers.find((row: { server: string }) => row.server === slug).status).not.toBe("online");
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});
