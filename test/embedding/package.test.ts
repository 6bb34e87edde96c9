import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** A project of somebody else, with what `npm pack` makes in its node_modules, and our packages beside it. */
let project: string;
let files: readonly string[];

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "toolyard-consumer-"));
  const packed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], { cwd: root });
  const [{ filename, files: listed }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
  files = listed.map(({ path }) => path);
  await run("tar", ["-xzf", filename], { cwd: project });
  await mkdir(join(project, "node_modules"));
  await rename(join(project, "package"), join(project, "node_modules/toolyard"));
  // Packages of the package are looked for above it, and in its own folder first.
  await symlink(join(root, "node_modules"), join(project, "node_modules/toolyard/node_modules"));
  await symlink(join(root, "node_modules/@types"), join(project, "node_modules/@types"));
  await symlink(join(root, "node_modules/undici-types"), join(project, "node_modules/undici-types"));
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
});
afterAll(async () => await rm(project, { recursive: true, force: true }));

test("the package has its entry, the entry's types, and nothing of the sources", () => {
  expect(files).toEqual(
    expect.arrayContaining(["dist/embedded/toolyard.js", "dist/types/toolyard.d.ts", "examples/embed.mjs"]),
  );
  expect(files.filter((path) => path.startsWith("src/") || path.startsWith("test/"))).toEqual([]);
});

test("the example runs as it is published, against real servers", async () => {
  const example = join(project, "node_modules/toolyard/examples/embed.mjs");
  const { stdout, stderr } = await run(process.execPath, [example], { env: { ...process.env, HOME: project } });
  expect(stdout.split("\n")).toEqual([
    "found everything:get-sum: a, b",
    "called it: The sum of 2 and 40 is 42.",
    "own route: hello from the program",
    "over HTTP: Echo: over HTTP",
    "stopped",
    "",
  ]);
  expect(stderr).toBe("");
});

test.each(["embed", "hono", "ai-sdk", "langchain"])(
  "docs/embedding.md shows %s.mjs, which a test runs",
  async (name) => {
    const example = await readFile(join(root, `examples/${name}.mjs`), "utf8");
    expect(await readFile(join(root, "docs/embedding.md"), "utf8")).toContain(example.trim());
  },
);

const consumer = `
import { createServer } from "node:http";
import { createGateway, type FoundTool, type Gateway, type GatewayFailure, type GatewayOptions } from "toolyard";

const options: GatewayOptions = { config: { mcpServers: {} }, log: { level: "warn", write: (line: string) => void line } };
await using gateway: Gateway = await createGateway(options);
createServer(gateway.handler);
const found: readonly FoundTool[] = await gateway.search("x", { limit: 1, signal: AbortSignal.timeout(1_000) });
for (const { path, relevance, inputSchema } of found) void [path.length, relevance.toFixed(), inputSchema["type"]];
try {
  const result = await gateway.call("a:b", { c: 1 }, { onProgress: ({ progress }) => void progress.toFixed() });
  void result.content?.[0]?.text?.length;
} catch (error) {
  void (error as GatewayFailure).hint.length;
}
`;

async function check(text: string, module: string): Promise<string> {
  const file = join(project, "consumer.ts");
  await writeFile(file, text);
  const flags = [
    "--strict",
    "--noEmit",
    "--skipLibCheck",
    "false",
    "--target",
    "es2023",
    "--lib",
    "es2023,esnext.disposable",
    "--types",
    "node",
  ];
  const resolution = module === "nodenext" ? [] : ["--moduleResolution", "bundler"];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return await run(process.execPath, [tsc, ...flags, "--module", module, ...resolution, "--ignoreConfig", file], {
    cwd: project,
  }).then(
    () => "",
    (error: { readonly stdout: string }) => error.stdout,
  );
}

test.each(["nodenext", "esnext"])("a program that imports it is checked against its types (%s)", async (module) => {
  expect(await check(consumer, module)).toBe("");
  expect(await check(consumer.replace("limit: 1", 'limit: "1"'), module)).toContain("TS2322");
  expect(await check(consumer.replace("gateway.call(", "gateway.cal("), module)).toContain("TS2551");
});
