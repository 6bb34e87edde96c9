/* oxlint-disable no-control-regex -- hidden characters are what is looked for */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, modernRpc, rpc, send } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import {
  discover,
  failureOf,
  faultyServer,
  flavours,
  slugOf,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "../servers/faulty-gateway.ts";

/** ANSI, a bidirectional override, zero-width characters, and words in Unicode tags. */
const hidden = `\u001B[31mred\u001B[0m \u202Eesrever\u202C zero\u200Bwidth \u{E0049}\u{E0067}\u{E006E}`;

describe("what servers say on their own", () => {
  let gateway: FaultyGateway;
  let servers: FaultyServer[];
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-notices-"));
    servers = await Promise.all(
      flavours.map(
        async (flavour) =>
          await faultyServer(
            flavour,
            "--record",
            join(directory, slugOf(flavour)),
            "--bad-x-mcp-header",
            "--behaviours",
            "all",
            "--cache-scope",
            "public",
            "--ttl-ms",
            "60000",
          ),
      ),
    );
    const entries = flavours.map((flavour, index) => [slugOf(flavour), servers[index]?.entry ?? {}]);
    const secretive = await faultyServer(
      "stdio legacy",
      "--tool-name",
      "plain",
      "--description",
      hidden,
      "--instructions",
      hidden,
    );
    gateway = await startFaulty({
      servers: {
        ...Object.fromEntries(entries),
        secretive: secretive.entry,
        keyed: { ...servers[3]?.entry, headers: { "X-Api-Key": "not-for-everybody" } },
      },
      args: ["--log-level", "debug"],
    });
    await untilOnline(gateway, ...flavours.map(slugOf), "secretive", "keyed");
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test("FAULT 40: hidden text in a description is taken out of answers and output, and kept where one server is shown as it is", async () => {
    const found = await discover(gateway, { query: "plain", server: "secretive" });
    expect(found.tools[0]).toMatchObject({ tool_path: "secretive:plain" });
    expect(JSON.stringify(found)).not.toMatch(/\\u001b|\u202E|\u200B|[\u{E0000}-\u{E007F}]/iu);
    const initialized = await rpc(`${gateway.url}/mcp`, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    expect(initialized.json.result.instructions).not.toMatch(/[\u001B\u202E\u200B]/);
    const own = await rpc(`${gateway.url}/mcp/server/secretive`, "tools/list");
    expect(own.json.result.tools[0].description).toBe(hidden);
    expect(gateway.stdout() + gateway.stderr()).not.toMatch(/[\u001B\u202E]/);
    await gateway.stillServes();
  });

  test("FAULT 45: a tool with a faulty x-mcp-header is left out over HTTP, with a warning, and the others stay", async () => {
    for (const slug of ["http-legacy", "http-modern"]) {
      const { tools } = (await rpc(`${gateway.url}/mcp/server/${slug}`, "tools/list")).json.result as {
        tools: { name: string }[];
      };
      expect(tools.map(({ name }) => name).filter((name) => name.startsWith("header-"))).toEqual(["header-good"]);
      for (const name of [
        "header-crlf",
        "header-empty",
        "header-space",
        "header-duplicate",
        "header-number",
        "header-object",
        "header-anyof",
      ]) {
        expect(
          gateway
            .logged(`"server":"${slug}"`)
            .filter((line) => line.includes(`\\"${name}\\" is skipped`) && line.includes('"level":"warn"')),
        ).toHaveLength(1);
      }
    }
    await gateway.stillServes();
  });

  test("FAULT 46: the value of a header parameter is encoded when a header cannot hold it", async () => {
    for (const region of ["eu-west", "two\r\nEvil: 1", "Zürich", "=?base64?ZXU=?=", " padded ", ""]) {
      const result = await execute(gateway.url, "http-modern:headers", { region });
      const seen = JSON.parse(result.content[0].text) as Record<string, string>;
      const value = seen["mcp-param-region"];
      expect(seen).not.toHaveProperty("evil");
      const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? "")?.[1];
      expect(encoded === undefined ? (value ?? "") : Buffer.from(encoded, "base64").toString("utf8")).toBe(region);
      expect(encoded === undefined).toBe(region === "eu-west" || (region === "" && encoded === undefined));
    }
    await gateway.stillServes();
  });

  test.each(["stdio-modern", "http-modern"])(
    "FAULT 49: a question that the client did not declare is not forwarded (%s)",
    async (slug) => {
      const call = { name: "execute_mcp_tool", arguments: { tool_path: `${slug}:elicit`, arguments: {} } };
      for (const answer of [
        await modernRpc(`${gateway.url}/mcp`, "tools/call", call),
        await modernRpc(`${gateway.url}/mcp`, "tools/call", call, { sampling: {} }),
      ]) {
        expect(answer.text).not.toContain("inputRequests");
        expect(answer.json.error).toMatchObject({ code: -32021 });
      }
      const legacy = await rpc(`${gateway.url}/mcp`, "tools/call", call);
      expect(legacy.text).not.toContain("inputRequests");
      expect(failureOf(legacy.json.result)).toMatchObject({ code: "CLIENT_CANNOT_ANSWER" });
      const declared = await modernRpc(`${gateway.url}/mcp`, "tools/call", call, { elicitation: { form: {} } });
      expect(declared.json.result).toMatchObject({ resultType: "input_required", inputRequests: expect.any(Object) });
      await gateway.stillServes();
    },
  );

  test.each(["stdio-legacy", "stdio-modern", "http-legacy", "http-modern"])(
    "FAULT 50: a storm of list_changed leads to a few refreshes (%s)",
    async (slug) => {
      const lists = async (): Promise<number> =>
        (await readFile(join(directory, slug), "utf8")).split("\n").filter((line) => line.includes('"tools/list"'))
          .length;
      const before = await lists();
      await execute(gateway.url, `${slug}:storm`, { perSecond: 1_000, ms: 1_500 });
      await execute(gateway.url, `${slug}:rename`, { from: "canary", to: `after-the-storm` });
      await until(async () =>
        JSON.stringify((await rpc(`${gateway.url}/mcp/server/${slug}`, "tools/list")).json).includes("after-the-storm"),
      );
      // At most once a second: 1.5 s of storm, the rename, and one that was under way.
      const instances = slug === "http-modern" ? ["http-modern", "keyed"] : [slug];
      expect((await lists()) - before).toBeLessThanOrEqual(5 * instances.length);
      await gateway.stillServes();
    },
  );

  test.each(flavours)(
    "FAULT 51: progress and notifications that belong to nobody are dropped and counted (%s)",
    async (flavour) => {
      const slug = slugOf(flavour);
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const body = (tool: string): string =>
        JSON.stringify({
          jsonrpc: "2.0",
          id: 7,
          method: "tools/call",
          params: {
            name: "execute_mcp_tool",
            arguments: { tool_path: `${slug}:${tool}`, arguments: {} },
            _meta: { progressToken: "mine" },
          },
        });
      const stray = await send(`${gateway.url}/mcp`, { headers, body: body("bad-progress-token") });
      expect(stray.text).toContain("reported to nobody");
      expect(stray.text).not.toContain("notifications/progress");
      const unknown = await send(`${gateway.url}/mcp`, { headers, body: body("unknown-notification") });
      // It came on the call's own stream, or belongs to nobody: either way the call goes on.
      expect(unknown.text).toContain("sent");
      const good = await send(`${gateway.url}/mcp`, { headers, body: body("progress") });
      expect(good.text.match(/"progressToken":"mine"/g)).toHaveLength(3);
      expect(gateway.logged(`"server":"${slug}"`).some((line) => line.includes("unknown-progress"))).toBe(true);
      await gateway.stillServes();
    },
  );

  test("FAULT 52: what was fetched with a credential is private, whatever the server says", async () => {
    const scope = async (slug: string): Promise<string> =>
      (await modernRpc(`${gateway.url}/mcp/server/${slug}`, "tools/list")).json.result.cacheScope;
    expect(await scope("http-modern")).toBe("public");
    expect(await scope("keyed")).toBe("private");
    expect((await modernRpc(`${gateway.url}/mcp/flat`, "tools/list")).json.result.cacheScope).toBe("private");
    await gateway.stillServes();
  });
});
