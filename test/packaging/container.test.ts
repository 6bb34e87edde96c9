import { spawn, type ChildProcess } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { listBinaries, packBinaries } from "../../scripts/package/pack-sqlite.mjs";
import { nameMachine } from "../../src/store/sql/sqlite/packed-sqlite.ts";
import { badServerFile } from "../harness/gateway.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { build, placeIn, readImage, readStages, type Instruction } from "./dockerfile.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stages = readStages(join(root, "packaging/Dockerfile"));
const image = readImage(stages);
const [uid = 0, gid = 0] = image.user.split(":").map(Number);
/** Only root can become the image's user; anybody else is as unprivileged as that. */
const isRoot = process.getuid?.() === 0;

test("the image is built in stages, from a Node that has its own SQLite, and runs as a numbered user", () => {
  expect(stages).toHaveLength(3);
  for (const [from] of stages) expect(from?.text).toMatch(/^node:22-slim(?: AS \w+)?$/);
  const all = stages.flat();
  expect(all.filter(({ name }) => name === "ADD" || name === "MAINTAINER")).toEqual([]);
  expect(all.filter(({ name, text }) => name === "RUN" && /sudo|curl|wget|chmod [0-7]*7\b/.test(text))).toEqual([]);
  expect([uid > 0, gid > 0]).toEqual([true, true]);
  const names = stages.at(-1)?.map(({ name }) => name) ?? [];
  // Whatever needs root comes before; nothing of the sources comes into the last stage.
  expect(names.lastIndexOf("RUN")).toBeLessThan(names.indexOf("USER"));
  expect(names.lastIndexOf("COPY")).toBeLessThan(names.indexOf("USER"));
  expect(stages.at(-1)?.find(({ name }) => name === "COPY")?.text).toBe("--from=installation /app /app");
  expect(names.filter((name) => name === "HEALTHCHECK" || name === "VOLUME")).toHaveLength(2);
});

test("no secret and nothing that was made here comes into the build", async () => {
  const ignored = (await readFile(join(root, ".dockerignore"), "utf8")).split("\n");
  expect(ignored).toEqual(expect.arrayContaining([".git", "node_modules", "dist", ".cache", "**/.env"]));
  // What npm packs, and what makes it, does.
  expect(ignored.filter((line) => /^(?:src|scripts|docs|examples|package)/.test(line))).toEqual([]);
});

test("compose runs it without rights, with a read-only root and one volume, for this machine alone", async () => {
  const { services } = parse(await readFile(join(root, "packaging/compose.yaml"), "utf8")) as {
    services: { toolyard: Record<string, unknown> };
  };
  expect(services.toolyard).toMatchObject({
    read_only: true,
    init: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    ports: [`127.0.0.1:3001:${image.environment["TOOLYARD_PORT"]}`],
    volumes: ["data:/data", `./toolyard.json:${image.environment["TOOLYARD_CONFIG"]}:ro`],
    build: { context: "..", dockerfile: "packaging/Dockerfile" },
  });
});

/** The image's file system, as far as the gateway sees it. */
let home: string;
const place = (path: string): string => placeIn(home, path);

async function forEachFile(folder: string, work: (path: string) => Promise<void>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await forEachFile(path, work);
    if (!entry.isSymbolicLink()) await work(path);
  }
}

/** Who is not root cannot give a folder to the image's user, and is as unprivileged. */
function asOneself(step: Instruction): Instruction {
  return { ...step, text: step.text.replace(/ && chown \S+ \S+/, "") };
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-image-"));
  await chmod(home, 0o755);
  await mkdir(join(home, "tmp"));
  const steps = isRoot ? stages : stages.map((stage) => stage.map(asOneself));
  await build({ stages: steps, home, context: root, environment: process.env });
  // As in the whole tarball: this test may run on a Node that has no SQLite of its own, which the image's has.
  const binaries = listBinaries().filter(({ machine }) => machine === nameMachine());
  await packBinaries({ target: join(home, "app/node_modules/toolyard/dist/sqlite"), binaries, quality: 1 });
  await cp(dirname(badServerFile), join(home, "app/servers"), { recursive: true });
  await forEachFile(join(home, "app"), async (path) => await chmod(path, 0o555));
  await chmod(join(home, "app"), 0o555);
}, 300_000);
afterAll(async () => {
  await chmod(join(home, "app"), 0o755);
  await forEachFile(join(home, "app"), async (path) => await chmod(path, 0o755));
  await rm(home, { recursive: true, force: true });
});

interface Container {
  readonly child: ChildProcess;
  readonly url: string;
  text(): string;
  health(): Promise<number | null>;
}

/** Runs what the image runs, as its user, with its variables and no others. */
async function runImage(config: object): Promise<Container> {
  const file = place(image.environment["TOOLYARD_CONFIG"] ?? "");
  await writeFile(file, JSON.stringify(config), { mode: 0o644 });
  const port = String(await freePort());
  const values = Object.entries(image.environment).map(([name, value]) => [name, place(value)]);
  const env = { ...Object.fromEntries(values), TOOLYARD_PORT: port, PATH: process.env["PATH"] };
  const identity = isRoot ? { uid, gid } : {};
  const start = ([command = "", ...args]: readonly string[]): ChildProcess => {
    expect(command).toBe("node");
    return spawn(process.execPath, args.map(place), { cwd: place(image.directory), env, ...identity });
  };
  const child = start(image.command);
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    text: () => text,
    health: async () => ((await once(start(image.health), "exit")) as [number | null])[0],
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("what the image runs serves, calls, records and stops, as a user who can write to the volume alone", async () => {
  const token = `ty_${randomBytes(32).toString("hex")}`;
  const tokenHashes = [`sha256:${createHash("sha256").update(token).digest("hex")}`];
  const bad = { command: "node", args: [join(home, "app/servers/bad-server.mjs")] };
  const { child, url, text, health } = await runImage({ mcpServers: { bad }, toolyard: { auth: { tokenHashes } } });
  const exited = once(child, "exit") as Promise<[number | null]>;
  try {
    await until(() => text().includes("listening on"));
    expect(await health()).toBe(0);
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/mcp`, { method: "POST", body: "{}" })).status).toBe(401);
    const call = { name: "execute_mcp_tool", arguments: { tool_path: "bad:echo", arguments: { text: "inside" } } };
    const { json } = await rpc(`${url}/mcp`, "tools/call", call, headers);
    expect(JSON.stringify(json.result)).toContain("inside");
    const calls = async (): Promise<string> => await (await fetch(`${url}/api/calls`, { headers })).text();
    await until(async () => (await calls()).includes("bad:echo"));
    if (isRoot)
      expect(readFileSync(`/proc/${child.pid}/status`, "utf8")).toMatch(new RegExp(`^Uid:\\s+${uid}\\s`, "m"));
  } finally {
    child.kill("SIGTERM");
  }
  expect((await exited)[0]).toBe(0);
  expect(await health()).toBe(1);
  const kept = await readdir(join(home, "data"), { recursive: true });
  expect(kept.some((name) => name.endsWith("records.db"))).toBe(true);
  await forEachFile(join(home, "data"), async (path) =>
    expect((await stat(path)).uid).toBe(isRoot ? uid : process.getuid?.()),
  );
});

test("without a token the container ends and says what to do, because its port is open to others", async () => {
  const { child, text } = await runImage({ mcpServers: {} });
  expect(await once(child, "exit")).not.toEqual([0, null]);
  expect(text()).toContain("toolyard token new");
});
