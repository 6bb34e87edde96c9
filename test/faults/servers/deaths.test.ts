import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../../harness/gateway.ts";
import { execute } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { isAlive } from "../../processes/survivors.ts";
import {
  discover,
  failureOf,
  faultyServer,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "./faulty-gateway.ts";

const pingsWithoutReading = fileURLToPath(new URL("../../servers/pings-without-reading.mjs", import.meta.url));

/** How a server dies in the middle of a call, and what the error says of it. */
const deaths = [
  ["exit-0", "exit", { code: 0 }, "exited with code 0"],
  ["exit-1", "exit", { code: 1 }, "exited with code 1"],
  ["sigkill", "crash-self", {}, "SIGKILL"],
  ["sigsegv", "segv", {}, "SIGSEGV"],
  ["throw", "throw", {}, "exited with code 1"],
  ["half", "half-answer", { exit: true }, "exited with code 1"],
] as const;

describe("servers that die or go deaf", () => {
  let gateway: FaultyGateway;
  let directory: string;
  let remote: FaultyServer[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-deaths-"));
    remote = [await faultyServer("http legacy"), await faultyServer("http modern")];
    const pidFile = (slug: string): string[] => ["--write-pid", join(directory, slug)];
    gateway = await startFaulty({
      servers: {
        ...Object.fromEntries(
          deaths.flatMap(([slug], index) => [
            [slug, { ...badServer("--era", index % 2 === 0 ? "legacy" : "modern", ...pidFile(slug)), retry: false }],
          ]),
        ),
        "gone-legacy": { ...remote[0]?.entry, retry: false },
        "gone-modern": { ...remote[1]?.entry, retry: false },
        holds: { ...badServer(...pidFile("holds")), retry: false },
        "holds-detached": { ...badServer(...pidFile("holds-detached")), retry: false },
        deaf: { ...badServer("--ignore-sigterm", "--ignore-eof", ...pidFile("deaf")) },
        flood: badServer("--behaviours", "flood-stderr,stderr,echo"),
        "not-reading": { ...badServer(), callTimeoutMs: 3_000, retry: false },
        stopped: { ...badServer(...pidFile("stopped")), callTimeoutMs: 1_000, retry: false },
        "stopped-modern": {
          ...badServer("--era", "modern", ...pidFile("stopped-modern")),
          callTimeoutMs: 1_000,
          retry: false,
        },
        slow: { ...badServer(...pidFile("slow")), callTimeoutMs: 500 },
        mute: { ...badServer(...pidFile("mute")), retry: false },
        family: badServer(...pidFile("family")),
        idle: { ...badServer(), idleTimeoutMs: 100 },
      },
      settings: {
        instances: { idleGraceMs: 0, idleCheckMs: 100, stopTimeoutMs: 1_000, drainTimeoutMs: 500 },
        limits: { stdinQueueBytes: 1024 * 1024 },
      },
      args: ["--log-level", "debug"],
    });
    await untilOnline(
      gateway,
      ...deaths.map(([slug]) => slug),
      "gone-legacy",
      "gone-modern",
      "holds",
      "holds-detached",
      "deaf",
      "flood",
      "not-reading",
      "stopped",
      "stopped-modern",
      "slow",
      "mute",
      "family",
      "idle",
    );
  });
  afterAll(async () => {
    const pids = await Promise.all(
      ["deaf", "family", "holds", "holds-detached"].map(async (slug) => await pidsOf(slug)),
    );
    await gateway.endsClean();
    expect(pids.flat().filter((pid) => isAlive(pid))).toEqual([]);
    await gateway[Symbol.asyncDispose]();
    for (const server of remote) await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  async function pidsOf(slug: string): Promise<number[]> {
    const lines = (await readFile(join(directory, slug), "utf8")).trim().split("\n");
    return lines.map((line) => Number(line.split(" ")[0]));
  }

  const works = async (slug: string): Promise<void> => {
    await until(async () =>
      JSON.stringify(await execute(gateway.url, `${slug}:echo`, { again: 1 })).includes('{"again":1}'),
    );
  };

  test.each(deaths)(
    "FAULT 74: calls in flight fail when the server dies, with how it died, and it is started again (%s)",
    async (slug, tool, args, how) => {
      const others = [execute(gateway.url, `${slug}:hang`), execute(gateway.url, `${slug}:hang`)];
      await until(
        async () => JSON.parse((await execute(gateway.url, `${slug}:in-flight`)).content[0].text).inFlight >= 3,
      );
      for (const result of await Promise.all([execute(gateway.url, `${slug}:${tool}`, args), ...others])) {
        const failure = failureOf(result);
        expect(failure).toMatchObject({ code: "UPSTREAM_CLOSED" });
        expect(failure.message).toContain(how);
      }
      await works(slug);
      await gateway.stillServes();
    },
  );

  test("FAULT 74: a server that dies by an exception shows its last stderr lines", async () => {
    const failure = failureOf(await execute(gateway.url, "throw:throw"));
    expect(JSON.stringify(failure["stderr"])).toContain("thrown, as asked");
    await works("throw");
  });

  test.each([0, 1])("FAULT 74: calls in flight fail when a remote server goes away (%i)", async (index) => {
    const slug = index === 0 ? "gone-legacy" : "gone-modern";
    const pending = execute(gateway.url, `${slug}:hang`);
    await until(
      async () => JSON.parse((await execute(gateway.url, `${slug}:in-flight`)).content[0].text).inFlight >= 2,
    );
    await remote[index]?.[Symbol.asyncDispose]();
    expect(failureOf(await pending).code).toMatch(/UPSTREAM_CLOSED|CONNECT_FAILED/);
    expect(failureOf(await execute(gateway.url, `${slug}:echo`)).code).toMatch(/SERVER_OFFLINE|CONNECT_FAILED/);
    await gateway.stillServes();
  });

  test.each([
    ["holds", {}],
    ["holds-detached", { detached: true }],
  ])("FAULT 75: a grandchild that holds stdout does not keep a dead server alive (%s)", async (slug, args) => {
    const failure = failureOf(await execute(gateway.url, `${slug}:exit-grandchild-holds-stdout`, args));
    expect(failure).toMatchObject({ code: "UPSTREAM_CLOSED", message: expect.stringContaining("exited with code 1") });
    await works(slug);
    await gateway.stillServes();
  });

  test("FAULT 73: a flood on stderr is cut, and the calls go on", async () => {
    const flood = execute(gateway.url, "flood:flood-stderr", { bytes: 30 * 1024 * 1024 });
    await gateway.stillServes();
    expect(await execute(gateway.url, "flood:echo", { meanwhile: 1 })).toMatchObject({
      structuredContent: { meanwhile: 1 },
    });
    expect((await flood).isError).toBeUndefined();
    await until(() => gateway.logged("bytes of stderr were dropped").length > 0);
    expect(gateway.stderr().length).toBeLessThan(10 * 1024 * 1024);
  });

  test("what a server writes to stderr is read always, and shown with --log-level debug", async () => {
    await execute(gateway.url, "family:stderr", { text: "look here", times: 3 });
    await until(() => gateway.logged('"operation":"stderr","msg":"look here"').length === 3);
  });

  test("FAULT 79: a server that does not read fills a bounded queue; then calls are refused", async () => {
    await execute(gateway.url, "not-reading:never-read-stdin");
    const codes: string[] = [];
    const text = "x".repeat(200_000);
    const pending = Array.from({ length: 12 }, async () => {
      const result = await execute(gateway.url, "not-reading:echo", { text });
      codes.push(JSON.parse(result.content[0].text).code);
    });
    await until(() => codes.length >= 4);
    expect(new Set(codes)).toEqual(new Set(["UPSTREAM_BUSY"]));
    await gateway.stillServes();
    // The rest ends with the server.
    void Promise.allSettled(pending);
  });

  test("FAULT 79: what a server asks and does not hear answered is not kept without end", async () => {
    await using pinged = await startFaulty({
      servers: { pinging: { command: process.execPath, args: [pingsWithoutReading] } },
      settings: { limits: { stdinQueueBytes: 1024 * 1024 } },
      args: ["--log-level", "debug"],
    });
    await until(() => pinged.logged('"operation":"answer-dropped"').length > 0);
    await pinged.stillServes();
    await pinged.endsClean();
  });

  test("FAULT 69: beside a server that writes nonsense as fast as it can, the others are served", async () => {
    await using babbling = await startFaulty({ servers: { babbling: { command: "yes" } } });
    for (let round = 0; round < 10; round += 1) await babbling.stillServes();
    await babbling.endsClean();
  });

  test.each(["stopped", "stopped-modern"])(
    "FAULT 80: a server that is stopped by a signal times out, is killed, and is started again (%s)",
    async (slug) => {
      const [pid = 0] = await pidsOf(slug);
      expect(failureOf(await execute(gateway.url, `${slug}:stop-self`)).code).toBe("UPSTREAM_TIMEOUT");
      await gateway.stillServes();
      await until(() => !isAlive(pid));
      await works(slug);
      expect(gateway.logged("no longer answers anything").length).toBeGreaterThan(0);
    },
  );

  test("a call that is merely slow costs no server its life", async () => {
    const [pid = 0] = await pidsOf("slow");
    expect(failureOf(await execute(gateway.url, "slow:hang")).code).toBe("UPSTREAM_TIMEOUT");
    expect(failureOf(await execute(gateway.url, "slow:hang")).code).toBe("UPSTREAM_TIMEOUT");
    expect(JSON.parse((await execute(gateway.url, "slow:pid")).content[0].text).pid).toBe(pid);
  });

  test("FAULT 83: a server that closes stdout and lives is treated as dead, ended, and started again", async () => {
    const [pid = 0] = await pidsOf("mute");
    expect(failureOf(await execute(gateway.url, "mute:close-stdout"))).toMatchObject({
      code: "UPSTREAM_CLOSED",
      message: expect.stringContaining("closed its output"),
    });
    await until(() => !isAlive(pid));
    await works("mute");
    await gateway.stillServes();
  });

  test("FAULT 85: a call that takes longer than the idle limit is not cut off; afterwards the server sleeps, and wakes for a call", async () => {
    expect(await execute(gateway.url, "idle:slow", { ms: 1_500 })).toMatchObject({
      content: [{ text: '{"waitedMs":1500}' }],
    });
    await until(
      async () =>
        (await discover(gateway, { query: "" })).servers.find((row: { server: string }) => row.server === "idle")
          .status === "dormant",
    );
    expect(await execute(gateway.url, "idle:echo", { woken: 1 })).toMatchObject({ structuredContent: { woken: 1 } });
    await gateway.stillServes();
  });

  test("FAULT 77 and 78: deaf servers and their families are there until the gateway ends, and gone with it", async () => {
    for (const tool of ["fork", "double-fork", "setsid", "daemon"])
      await execute(gateway.url, `family:${tool}`, { deaf: true });
    expect((await pidsOf("family")).filter((pid) => isAlive(pid))).toHaveLength(5);
    expect((await pidsOf("deaf")).every((pid) => isAlive(pid))).toBe(true);
  });
});
