import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { oldestNode, checkClock, checkNode } from "../../../src/operations/machine/doctor/doctor-machine.ts";
import { badServer, startGateway } from "../../harness/gateway.ts";
import { onlyPlace } from "../../harness/places.ts";
import { until } from "../../harness/until.ts";
import { startBadHttpServer } from "../../instances/bad-http-server.ts";
import { standingOf } from "../../instances/observing.ts";
import { openShop, type Shop } from "./shop.ts";

interface Found {
  readonly kind: "ok" | "warn" | "fail";
  readonly what: string;
  readonly todo: string | null;
}

let shop: Shop;
let port: number;
beforeEach(async () => {
  shop = await openShop();
  port = await freePort();
});
afterEach(async () => await shop[Symbol.asyncDispose]());

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

async function freePort(): Promise<number> {
  const server = createServer();
  const found = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return found;
}

test("says how long `toolyard stdio` took to its first list, and leaves nothing behind", async () => {
  await configure({});
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith("toolyard-doctor-"));
  const { stdout } = await shop.run(["doctor", "--json", "--start"]);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Found[] };
  const told = findings.filter(({ what }) => what.startsWith("toolyard stdio: its first list of tools came after"));
  expect(told).toHaveLength(1);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("toolyard-doctor-"))).toEqual(before);
  const quick = await shop.run(["doctor", "--json"]);
  expect(quick.stdout).not.toContain("toolyard stdio: its first list");
});

async function configure(mcpServers: object, toolyard: object = {}): Promise<void> {
  await writeFile(shop.file, JSON.stringify({ mcpServers, toolyard: { port, ...toolyard } }), { mode: 0o600 });
}

async function examine(args: readonly string[] = [], env: Record<string, string> = {}) {
  const { code, stdout } = await shop.run(["doctor", "--json", ...args], env);
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: readonly Found[] };
  expect(code).toBe(ok ? 0 : 1);
  for (const { kind, todo } of findings) expect(todo === null).toBe(kind === "ok");
  return { code, of: (kind: Found["kind"]) => findings.filter((finding) => finding.kind === kind), stdout };
}

test("finds nothing where all is well, and says what it looked at", async () => {
  await using remote = await startBadHttpServer(0);
  await configure({ bad: badServer(), far: { url: remote.url }, off: { command: "none", disabled: true } });
  const found = await examine(["--start"]);
  expect(found.of("fail")).toEqual([]);
  // How long it takes to start is the machine's matter.
  const others = found.of("warn").filter(({ what }) => !what.startsWith("toolyard stdio: its first list"));
  expect(others).toEqual([]);
  const lines = found.of("ok").map(({ what }) => what);
  for (const line of [
    `Node ${process.versions.node}`,
    `configuration ${shop.file}, 3 servers`,
    "no gateway runs with this configuration",
    `port ${port} of 127.0.0.1 is free`,
    `far: ${new URL(remote.url).origin} answers`,
    "the clock agrees with that of the servers",
    "off: off",
  ])
    expect(lines).toContain(line);
  expect(lines.some((line) => /^bad: it answers, \d+ tools?$/.test(line))).toBe(true);
  const shown = await shop.run(["doctor"]);
  expect(shown.stdout).toMatch(/^ ok {4}Node /m);
  expect(shown.stderr).toMatch(/0 to fix, [01] to look at\./);
});

test("each thing that is broken is told with what to do about it", async () => {
  const taken = createServer();
  port = await listen(taken);
  await configure({
    gone: { command: "psql-mcp" },
    tool: { command: "uvx-that-is-missing-here/x" },
    ends: { command: process.execPath, args: ["-e", "console.error('no database'); process.exit(2)"] },
    far: { url: "http://127.0.0.1:1/mcp" },
    lacks: { command: "node", env: { KEY: "${NOT_SET_ANYWHERE}" } },
  });
  const found = await examine(["--start"]);
  taken.close();
  const told = Object.fromEntries(found.of("fail").map(({ what, todo }) => [what, todo]));
  expect(told).toMatchObject({
    [`port ${port} of 127.0.0.1 is taken by another program`]: expect.stringContaining("--port") as string,
    "gone: command psql-mcp was not found in PATH": "Install it, or run `toolyard servers remove gone`.",
    "far: http://127.0.0.1:1 does not answer (ECONNREFUSED)": "Check the URL and the network.",
    "lacks: the variable NOT_SET_ANYWHERE is not set":
      "Run `toolyard config keep NOT_SET_ANYWHERE`, or set it in the environment in which the gateway is started.",
  });
  for (const server of ["gone", "tool", "ends", "far", "lacks"])
    expect(found.of("fail").filter(({ what }) => what.startsWith(`${server}: `))).toHaveLength(1);
  const ends = Object.entries(told).find(([what]) => what.startsWith("ends: cannot start"));
  expect(ends?.[0]).toContain("(last output: no database)");
  expect(ends?.[1]).toContain("Its last output says why");
  expect(found.of("fail").some(({ what }) => what.startsWith("tool: command"))).toBe(true);
});

test("a program that many servers need is told with where to get it", async () => {
  await configure({ py: { command: "uvx", args: ["x"] } });
  const found = await examine([], { PATH: join(shop.directory, "bin") });
  expect(found.of("fail")).toEqual([
    { kind: "fail", what: "py: command uvx was not found in PATH", todo: "Install uv (https://docs.astral.sh/uv)." },
  ]);
});

test("only --start starts servers", async () => {
  const marker = join(shop.directory, "started");
  await shop.addProgram("marking", `touch '${marker}'; exit 1`);
  await configure({ marks: { command: "marking" } });
  expect((await examine()).code).toBe(0);
  expect(existsSync(marker)).toBe(false);
  expect((await examine(["--start"])).code).toBe(1);
  expect(existsSync(marker)).toBe(true);
});

describe("files", () => {
  test("that others can read are told when there are secrets in them, and no secret is shown", async () => {
    await configure({ bad: { ...badServer(), env: { API_TOKEN: "hunter2-hunter2", PLAIN: "x" } } });
    await chmod(shop.file, 0o644);
    await mkdir(join(shop.directory, "data"), { mode: 0o755 });
    await chmod(join(shop.directory, "data"), 0o755);
    const found = await examine();
    expect(found.code).toBe(0);
    expect(found.of("warn")).toEqual([
      {
        kind: "warn",
        what: `${shop.file} has secrets in it (bad.env.API_TOKEN), and others on this machine can read it`,
        todo: expect.stringContaining(`chmod 600 ${shop.file}`) as string,
      },
      {
        kind: "warn",
        what: `data directory ${join(shop.directory, "data")} can be read by others on this machine`,
        todo: `Run \`chmod 700 ${join(shop.directory, "data")}\`.`,
      },
    ]);
    expect(found.stdout).not.toContain("hunter2");
    await chmod(shop.file, 0o600);
    await chmod(join(shop.directory, "data"), 0o700);
    expect((await examine()).of("warn")).toEqual([]);
  });

  test("a data directory that is none, and a configuration that is broken, are told", async () => {
    await configure({});
    await writeFile(join(shop.directory, "data"), "a file");
    expect((await examine(["--start"])).of("fail")[0]?.what).toContain("is a file");
    await writeFile(shop.file, "{\n  oops\n}");
    const found = await examine(["--start"]);
    expect(found.code).toBe(1);
    expect(found.of("fail").map(({ what }) => what)).toEqual([
      expect.stringMatching(/toolyard\.json:2:3: expected/) as string,
    ]);
  });

  test("without any configuration it says how to begin", async () => {
    const found = await examine(["--start"], { TOOLYARD_CONFIG: "", TOOLYARD_PORT: String(port) });
    expect(found.of("warn")[0]?.todo).toContain("toolyard servers add");
  });
});

describe("with a running gateway", () => {
  const env = () => ({ TOOLYARD_DATA_DIR: join(shop.directory, "data") });

  test("its servers are taken as it has them, and its version is compared", async () => {
    const config = {
      mcpServers: { bad: badServer(), ends: { command: process.execPath, args: ["-e", "process.exit(1)"] } },
    };
    await using gateway = await startGateway({ config, directory: shop.directory, env: shop.environment });
    await until(async () => (await standingOf(gateway.url, "bad")).status === "online");
    await until(async () => (await standingOf(gateway.url, "ends")).status !== "connecting");
    const found = await examine(["--start"], env());
    const lines = found.of("ok").map(({ what }) => what);
    expect(lines.some((line) => line.includes(` at ${gateway.url} runs this version, `))).toBe(true);
    expect(lines.some((line) => /^bad: (online|asleep.*), \d+ tools?$/.test(line))).toBe(true);
    expect([...found.of("fail"), ...found.of("warn")].some(({ what }) => what.startsWith("ends: "))).toBe(true);
    expect(lines.some((line) => line.startsWith("port "))).toBe(false);

    const lock = join(onlyPlace(join(shop.directory, "data")), "gateway.lock");
    const held = readFileSync(lock, "utf8");
    const { version } = JSON.parse(held) as { version: string };
    writeFileSync(lock, held.replaceAll(`"${version}"`, `"0.0.9"`));
    const other = await examine(["--start"], env());
    writeFileSync(lock, held);
    expect(other.of("warn").map(({ what }) => what)).toContainEqual(
      expect.stringContaining(`runs version 0.0.9, and this is ${version}`) as string,
    );
  });

  test("one that is down is told once, where its command or its address says why", async () => {
    await configure({ gone: { command: "psql-mcp" }, far: { url: "http://127.0.0.1:1/mcp" }, bad: badServer() });
    const config = readFileSync(shop.file, "utf8");
    await using gateway = await startGateway({ config, directory: shop.directory, env: shop.environment });
    await until(async () => (await standingOf(gateway.url, "gone")).status === "error");
    await until(async () => (await standingOf(gateway.url, "far")).status === "offline");
    expect((await examine([], env())).of("fail").map(({ what }) => what)).toEqual([
      "gone: command psql-mcp was not found in PATH",
      "far: http://127.0.0.1:1 does not answer (ECONNREFUSED)",
    ]);
  });

  test("and after it, its records are looked at", async () => {
    await configure({ bad: badServer() });
    const config = readFileSync(shop.file, "utf8");
    await using gateway = await startGateway({ config, directory: shop.directory, env: shop.environment });
    await until(() => existsSync(join(shop.directory, "data")));
    await gateway.stop();
    const found = await examine([], env());
    expect(found.of("fail")).toEqual([]);
    expect(found.of("ok").some(({ what }) => /records can be read|nothing is recorded/.test(what))).toBe(true);
  });
});

test("the clock is compared with most servers, not with one that is wrong", () => {
  const nowMs = Date.parse("2026-05-05T12:00:00Z");
  const seen = (...offsets: readonly number[]) =>
    offsets.map((offset) => ({ date: new Date(nowMs + offset).toUTCString(), atMs: nowMs }));
  expect(checkClock(seen(0, 0, 7_200_000))?.kind).toBe("ok");
  expect(checkClock(seen(7_200_000, 7_200_000, 0))?.what).toBe("the clock is 7200 s behind that of the servers");
  expect(checkClock(seen(-120_000))?.what).toBe("the clock is 120 s ahead of that of the servers");
  expect(
    checkClock([
      { date: null, atMs: nowMs },
      { date: "nonsense", atMs: nowMs },
    ]),
  ).toBeUndefined();
});

test("the oldest Node is the one that package.json names", () => {
  const file = fileURLToPath(new URL("../../../package.json", import.meta.url));
  const { engines } = JSON.parse(readFileSync(file, "utf8")) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${oldestNode.join(".")}`);
  expect(checkNode("20.18.9")).toMatchObject({ kind: "fail", todo: "Install Node 20.19 or newer." });
  for (const version of ["20.19.0", "22.1.0", "100.0.0"]) expect(checkNode(version).kind).toBe("ok");
});
