import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, startGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { openShop, type Shop } from "./shop.ts";

const secret = "s3cr3t-s3cr3t-s3cr3t";
const written = `{
  "mcpServers": {
    "bad": {
      "command": "node",
      "args": ["x.js", "--key=${secret}"],
      "env": { "API_TOKEN": "\${BAD_TOKEN}", "PLAIN": "${secret}" },
      "callTimeoutMs": 5000
    },
    "far": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${BAD_TOKEN}", "X": "short" }, "disabled": true }
  },
  "toolyard": { "port": 4001, "instances": { "idleTimeoutMs": 9000 }, "search": { "learn": false } },
  "performance": { "maxNamespaces": 3 }
}
`;
let shop: Shop;
beforeEach(async () => {
  shop = await openShop(written);
});
afterEach(async () => await shop[Symbol.asyncDispose]());

interface Listed {
  readonly values: readonly { readonly path: string; readonly value: unknown; readonly origin?: string }[];
}

describe("config show", () => {
  const show = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, stdout } = await shop.run(["config", "show", "--origins", "--json", ...args], {
      BAD_TOKEN: secret,
      ...env,
    });
    expect(code).toBe(0);
    expect(stdout).not.toContain(secret);
    const { values } = JSON.parse(stdout) as Listed;
    return new Map(
      values.map(({ path, value, origin = "" }) => [path, { value, origin: origin.replace(shop.file, "file") }]),
    );
  };

  test("names a place in the file, a flag, a variable or the default for each value", async () => {
    const values = await show(["--log-level", "warn"], { TOOLYARD_EXPOSURE: "flat" });
    expect(Object.fromEntries(values)).toMatchObject({
      "toolyard.port": { value: 4001, origin: "file:11:25" },
      "toolyard.logLevel": { value: "warn", origin: "--log-level" },
      "toolyard.exposure": { value: "flat", origin: "TOOLYARD_EXPOSURE" },
      "toolyard.host": { value: "127.0.0.1", origin: "default" },
      "toolyard.search.learn": { value: false, origin: expect.stringMatching(/^file:11:/) as string },
      "toolyard.namespaces.maxLoaded": { value: 3, origin: "file:12:37" },
      "toolyard.instances.idleTimeoutMs": { value: 9000, origin: expect.stringMatching(/^file:11:/) as string },
      "servers.bad.command": { value: "node", origin: "file:4:18" },
      "servers.bad.callTimeoutMs": { value: 5000, origin: "file:7:24" },
      "servers.bad.idleTimeoutMs": { value: 9000, origin: expect.stringMatching(/^file:11:/) as string },
      "servers.bad.maxCallTimeoutMs": { value: 3_600_000, origin: "default" },
      "servers.far.enabled": { value: false, origin: expect.stringMatching(/^file:9:/) as string },
      "servers.far.url": { value: "https://example.com/mcp", origin: expect.stringMatching(/^file:9:/) as string },
    });
  });

  test("a secret is shown as a reference to its variable, and otherwise not at all", async () => {
    const values = await show([]);
    expect(values.get("servers.bad.env.API_TOKEN")?.value).toBe("${BAD_TOKEN}");
    expect(values.get("servers.bad.env.PLAIN")?.value).toBe("(hidden)");
    expect(values.get("servers.far.headers.Authorization")?.value).toBe("Bearer ${BAD_TOKEN}");
    expect(values.get("servers.far.headers.X")?.value).toBe("(hidden)");
    expect(values.get("servers.bad.args")?.value).toEqual(["x.js", "--key=[redacted]"]);
  });

  test("is a table for people, with origins only when they are asked for", async () => {
    const plain = await shop.run(["config", "show"], { BAD_TOKEN: secret });
    expect(plain.stdout).toMatch(/^NAME +VALUE$/m);
    expect(plain.stdout).toMatch(/^toolyard\.port +4001$/m);
    const full = await shop.run(["config", "show", "--origins"], { BAD_TOKEN: secret });
    expect(full.stdout).toMatch(/^toolyard\.port +4001 +toolyard\.json:11:25$/m);
    expect(plain.stdout + full.stdout).not.toContain(secret);
  });
});

describe("config check", () => {
  test("FAULT 87: tells every problem with line and column, and ends with 2", async () => {
    await writeFile(
      shop.file,
      `{\n  "mcpServers": { "a": { "command": 7 } },\n  "toolyard": {\n    "port": "x",\n    "exposure": "none"\n  }\n}\n`,
    );
    const checked = await shop.run(["config", "check"]);
    expect(checked.code).toBe(2);
    const lines = checked.stdout.trimEnd().split("\n");
    for (const place of ["2:37", "4:13", "5:17"])
      expect(lines.filter((line) => line.startsWith(`${shop.file}:${place}: `))).toHaveLength(1);
    const json = await shop.run(["config", "check", "--json"]);
    expect(json.code).toBe(2);
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false, problems: lines });
  });

  test("a server that cannot be used is a problem, and a field that is not known is none", async () => {
    await writeFile(shop.file, `{ "mcpServers": { "a": { "command": "x", "args": ["\${NOT_THERE}"] } }, "other": 1 }`);
    const checked = await shop.run(["config", "check"]);
    expect(checked).toMatchObject({ code: 2, stderr: expect.stringContaining("warning: ") as string });
    expect(checked.stdout).toMatch(/toolyard\.json:1:\d+: server "a" is disabled: the variable NOT_THERE is not set/);
    const fine = await shop.run(["config", "check"], { NOT_THERE: "1" });
    expect(fine).toMatchObject({ code: 0, stdout: `${shop.file} is fine.\n` });
  });
});

test("config schema is docs/toolyard.schema.json, letter for letter but for the layout", async () => {
  const { code, stdout } = await shop.run(["config", "schema"]);
  expect(code).toBe(0);
  const page = fileURLToPath(new URL("../../../docs/toolyard.schema.json", import.meta.url));
  expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync(page, "utf8")));
  expect(await shop.run(["config", "nonsense"])).toMatchObject({ code: 2 });
});

describe("config diff", () => {
  interface Standing {
    readonly refused: string | null;
    readonly differences: readonly {
      readonly path: string;
      readonly before: unknown;
      readonly after: unknown;
      readonly needsRestart: boolean;
    }[];
  }
  const start = { mcpServers: { bad: { ...badServer(), env: { API_TOKEN: secret } } }, toolyard: { logLevel: "info" } };

  test("says what the file would change, what waits for the next start, and why a file is refused", async () => {
    await using gateway = await startGateway({ config: start, directory: shop.directory, env: shop.environment });
    const env = { TOOLYARD_DATA_DIR: join(gateway.directory, "data") };
    const diff = async () => await shop.run(["config", "diff", "--json"], env);
    const read = async () => JSON.parse((await diff()).stdout) as Standing;
    expect((await shop.run(["config", "diff"], env)).stdout).toBe(`The running gateway has ${shop.file} in force.\n`);

    const changed = { ...start, toolyard: { logLevel: "debug", limits: { clientInstances: 7 } } };
    await writeFile(gateway.configFile, JSON.stringify(changed));
    const late = await until(async () => {
      const { differences } = await read();
      return differences.every(({ needsRestart }) => needsRestart) && differences;
    });
    expect(late).toEqual([{ path: "toolyard.logLevel", before: "info", after: "debug", needsRestart: true }]);
    const table = await shop.run(["config", "diff"], env);
    expect(table.stdout).toMatch(/^toolyard\.logLevel +"info" +"debug" +takes effect at the next start$/m);

    await writeFile(gateway.configFile, `{ "mcpServers": [] }`);
    const refused = await until(async () => {
      const result = await shop.run(["config", "diff"], env);
      return result.code === 2 && result;
    });
    expect(refused.stderr).toMatch(/keeps its old configuration.*toolyard\.json:1:\d+: /);
  });

  test("without a gateway it says that none runs", async () => {
    expect(await shop.run(["config", "diff"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no gateway runs") as string,
    });
  });
});
