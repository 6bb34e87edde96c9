import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { Client } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServerExposure } from "../../catalog/exposure/server.ts";
import type { ListKind } from "../../catalog/exposure/exposure.ts";
import { buildInstanceCatalog, type RawLists } from "../../catalog/model/instance-catalog.ts";
import type { ViewServer, View } from "../../catalog/model/view.ts";
import type { ServerConfig } from "../../config/config.ts";
import { checkResult } from "../../engine/calls/results/result-check.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { createLateTextSearch } from "../../wire/json/text-search.ts";
import { fitResult } from "../../wire/mcp/shapes/result-shapes.ts";
import { joinText, toResultText } from "./answers/result-text.ts";

/** What the next request of each method is answered with. */
const answers = new Map<string, unknown>();
const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
const serverInfo = { name: "s", version: "1" };

interface Message {
  readonly id?: unknown;
  readonly method: string;
}

/** A server that answers at once with what is in `answers`: it is the clients that are looked at. */
class Answering {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  async start(): Promise<void> {}
  async close(): Promise<void> {
    this.onclose?.();
  }
  async send({ id, method }: Message): Promise<void> {
    if (id === undefined) return;
    const result = answers.get(method);
    queueMicrotask(() => this.onmessage?.({ jsonrpc: "2.0", id, result } as never));
  }
}

interface Reader {
  readonly name: string;
  readonly era: Era;
  readonly client: Pick<Client, "connect" | "close" | "listTools" | "callTool"> & Client;
}

const reader = (name: string, era: Era, client: unknown): Reader => ({ name, era, client: client as Client });
const readers: readonly Reader[] = [
  reader("v1", "legacy", new OlderClient(serverInfo)),
  reader("v2, legacy", "legacy", new Client(serverInfo)),
  reader("v2, modern", "modern", new Client(serverInfo, { versionNegotiation: { mode: { pin: "2026-07-28" } } })),
];

beforeAll(async () => {
  answers.set("initialize", { protocolVersion: "2025-11-25", capabilities, serverInfo });
  const caching = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  answers.set("server/discover", { ...caching, supportedVersions: ["2026-07-28"], capabilities });
  for (const { client } of readers) await client.connect(new Answering() as never);
});
afterAll(async () => {
  for (const { client } of readers) await client.close();
});

/** Values that programs write where they mean something else, or nothing, and any others. */
const odd = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(null, "", 0, 1, -1, 1.5, true, false, [], {}, [null], [{}], { type: null }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("text", "user", ["user", "x"], "2025-01-12T15:00:58", "2025-02-30T00:00:00Z"),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

type Place = readonly (string | number)[];
interface Change {
  readonly place: Place;
  readonly value: unknown;
}

const changeOf = (places: readonly Place[]): fc.Arbitrary<Change> =>
  fc.record({ place: fc.constantFrom(...places), value: odd });

/** The same value with another one in that place. */
function changed(value: unknown, [step, ...rest]: Place, by: unknown): unknown {
  if (step === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[step] = changed(copy[step], rest, by);
  return copy;
}

/** Every place in a value, but for those of the members that are required there. */
function placesIn(value: unknown, required: readonly string[], before: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const place = [...before, Array.isArray(value) ? Number(key) : key];
    const isFixed = before.length === 0 && required.includes(key);
    return [...(isFixed ? [] : [place]), ...placesIn(member, required, place)];
  });
}

const icons = [{ src: "https://x.example/i.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }];
const annotations = { audience: ["user"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" };
const about = { title: "T", description: "d", icons, _meta: { a: 1 } };
const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
};
const definitions = {
  tools: {
    name: "n",
    ...about,
    inputSchema: schema,
    outputSchema: schema,
    annotations: { title: "T", readOnlyHint: true, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    execution: { taskSupport: "optional" },
  },
  resources: { uri: "x://a", name: "n", ...about, mimeType: "text/plain", size: 1, annotations },
  templates: { uriTemplate: "x://{a}", name: "n", ...about, mimeType: "text/plain", annotations },
  prompts: { name: "n", ...about, arguments: [{ name: "a", title: "T", description: "d", required: true }] },
} as const satisfies Record<string, JsonObject>;

type Kind = keyof typeof definitions;
const keys: Readonly<Record<Kind, { readonly key: string; readonly list: ListKind }>> = {
  tools: { key: "name", list: "tools" },
  resources: { key: "uri", list: "resources" },
  templates: { key: "uriTemplate", list: "resourceTemplates" },
  prompts: { key: "name", list: "prompts" },
};
const methodOf = {
  tools: "tools/list",
  resources: "resources/list",
  templates: "resources/templates/list",
  prompts: "prompts/list",
};

const server = {
  slug: "s",
  displayName: "S",
  transport: { kind: "stdio", env: {} },
  tools: { rename: {}, describe: {}, phrases: {} },
} as unknown as ServerConfig;

/** The list as `/mcp/server/s` shows it. */
function listed(kind: Kind, items: readonly unknown[], era: Era): JsonObject {
  const none = { tools: [], resources: [], templates: [], prompts: [], skills: [] };
  const about = { serverInfo, instructions: undefined, capabilities, eras: [era], ttlMs: 0, cacheScope: "private" };
  const lists = { ...none, [kind]: items, ...about, transport: "stdio" } as RawLists;
  const { catalog } = buildInstanceCatalog(server, "s" as InstanceId, lists);
  const shown = { slug: "s", instance: "s", catalog, tools: catalog.tools } as unknown as ViewServer;
  const { list } = keys[kind];
  const listing = createServerExposure("s").list({ server: () => shown } as unknown as View, list, { era });
  return {
    resultType: "complete",
    [list]: listing.items.map((item) => JSON.parse(item) as unknown),
    ttlMs: 0,
    cacheScope: "private",
  };
}

async function read({ client }: Reader, kind: Kind): Promise<readonly JsonObject[]> {
  switch (kind) {
    case "tools":
      return (await client.listTools()).tools;
    case "resources":
      return (await client.listResources()).resources;
    case "templates":
      return (await client.listResourceTemplates()).resourceTemplates as unknown as JsonObject[];
    case "prompts":
      return (await client.listPrompts()).prompts;
  }
}

describe("any JSON in the place of any optional member", () => {
  test.each(Object.keys(definitions) as Kind[])("of %s costs no client the list, and no item", async (kind) => {
    const { key } = keys[kind];
    const good = definitions[kind] as JsonObject;
    const change = changeOf(placesIn(good, ["name", "uri", "uriTemplate"]));
    const property = fc.asyncProperty(fc.array(change, { minLength: 50, maxLength: 50 }), async (changes) => {
      const items = changes.map(({ place, value }, index) => ({
        ...(changed(good, place, value) as JsonObject),
        [key]: `x://${index}`,
      }));
      for (const one of readers) {
        answers.set(methodOf[kind], listed(kind, items, one.era));
        const names = (await read(one, kind)).map((item) => item[key]);
        expect(names, one.name).toEqual(items.map((item) => (item as JsonObject)[key]));
      }
    });
    await fc.assert(property, { numRuns: 460 });
  });

  test("in a definition without its schemas and names leaves them all usable", async () => {
    for (const one of readers) {
      answers.set("tools/list", listed("tools", [{ name: "a" }, { name: "b", inputSchema: null }], one.era));
      expect((await one.client.listTools()).tools.map((tool) => tool.inputSchema)).toEqual([
        { type: "object" },
        { type: "object" },
      ]);
      answers.set("resources/list", listed("resources", [{ uri: "x://a" }], one.era));
      expect((await one.client.listResources()).resources).toEqual([{ uri: "x://a", name: "x://a" }]);
    }
  });
});

const limits = { resultBytes: 10_000_000, contentBlocks: 1_000, depth: 100, textSearch: createLateTextSearch() };

async function resultFor(one: Reader, method: string, result: unknown): Promise<unknown> {
  const checked = await checkResult({ what: "x://a", method }, Buffer.from(JSON.stringify(result)), limits);
  const fitting = fitResult(checked, one.era === "legacy" ? "2025-11-25" : "2026-07-28");
  const hints = method === "resources/read" ? '"ttlMs":0,"cacheScope":"private"' : "";
  return JSON.parse(joinText(toResultText(fitting, one.era, '{"name":"g","version":"1"}', hints)));
}

const base64 = "iVBORw0KGgo=";
const contents = [
  { uri: "x://a", mimeType: "text/plain", text: "SAID", _meta: { a: 1 } },
  { uri: "x://b", mimeType: "image/png", blob: base64 },
];
const blocks: readonly JsonObject[] = [
  { type: "text", text: "SAID", annotations, _meta: { a: 1 } },
  { type: "image", data: base64, mimeType: "image/png", annotations },
  { type: "audio", data: base64, mimeType: "audio/wav", annotations },
  { type: "resource_link", ...definitions.resources },
  ...contents.map((resource) => ({ type: "resource", resource, annotations })),
];
const results = {
  "tools/call": { content: blocks, structuredContent: { a: 1 }, isError: false, _meta: { progressToken: 1 } },
  "prompts/get": {
    description: "d",
    messages: blocks.map((content) => ({ role: "user", content })),
    _meta: { "io.modelcontextprotocol/related-task": { taskId: "1" } },
  },
  "resources/read": { contents, ttlMs: 1, cacheScope: "public", _meta: {} },
  "completion/complete": { completion: { values: ["a"], total: 1, hasMore: false }, _meta: {} },
} as const satisfies Record<string, JsonObject>;

async function receive({ client }: Reader, method: keyof typeof results): Promise<unknown> {
  switch (method) {
    case "tools/call":
      return await client.callTool({ name: "n" });
    case "prompts/get":
      return await client.getPrompt({ name: "n" });
    case "resources/read":
      return await client.readResource({ uri: "x://a" });
    case "completion/complete":
      return await client.complete({ ref: { type: "ref/prompt", name: "n" }, argument: { name: "a", value: "" } });
  }
}

describe("any JSON in the place of any member", () => {
  test.each(Object.keys(results) as (keyof typeof results)[])(
    "of a result of %s, or of the result itself, is read by every client",
    async (method) => {
      const change = changeOf(placesIn(results[method], []));
      const property = fc.asyncProperty(change, async ({ place, value }) => {
        const given = changed(results[method], place, value);
        for (const one of readers) {
          answers.set(method, await resultFor(one, method, given));
          await expect(receive(one, method), `${one.name}: ${JSON.stringify(given)}`).resolves.toBeDefined();
        }
      });
      await fc.assert(property, { numRuns: 2_000 });
    },
  );

  test.each(Object.keys(results) as (keyof typeof results)[])(
    "a good result of %s passes as its bytes",
    async (method) => {
      const bytes = Buffer.from(JSON.stringify(results[method]).replace('"a":1', '"a" : 1.00, "b":9007199254740993'));
      const checked = await checkResult({ what: "x://a", method }, bytes, limits);
      expect(checked.bytes).toBe(bytes);
      expect(checked.verdict?.oddity).toBeUndefined();
    },
  );
});
