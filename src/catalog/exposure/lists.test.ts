import { describe, expect, test } from "vitest";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleStanding, sampleView } from "../../../test/sample-view.ts";
import type { InstanceCatalog } from "../model/snapshot.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { flatExposure } from "./meta/flat.ts";
import { describeServers } from "./meta/instructions.ts";
import { metaExposure } from "./meta/meta.ts";
import { resolveCompletion, resolvePrompt, resolveRead, toListing } from "./native.ts";
import { renderResourceList } from "./resource-list.ts";
import { createServerExposure } from "./server.ts";
import { estimateTokens } from "./text/token-estimate.ts";

function withOffers(slug: string, resources: number, more: Partial<InstanceCatalog> = {}): InstanceCatalog {
  const part = sampleInstance(slug, [
    { name: "tool", _meta: { ui: { resourceUri: "ui://main", x: 1 }, "ui/resourceUri": "ui://main" } },
  ]);
  const owner = { instance: part.instance, server: part.server };
  return {
    ...part,
    resources: Array.from({ length: resources }, (_, index) => ({
      ...owner,
      definition: { uri: `db://${index}`, name: `number ${index}`, _meta: { kept: index } },
    })),
    templates: [{ ...owner, definition: { uriTemplate: "db://{id}", name: "row" } }],
    prompts: [{ ...owner, definition: { name: "ask" } }],
    ...more,
  };
}

const view = sampleView([withOffers("one", 2), withOffers("two", 1)]);
const parsed = (items: readonly string[]): { [key: string]: unknown }[] => items.map((item) => JSON.parse(item));

describe("lists of several servers", () => {
  test("of the four tools, the first alone says which servers there are, or were when a session began", () => {
    const [find, ...others] = metaExposure.list(view, "tools").items;
    const none = sampleView([]);
    expect(metaExposure.list(none, "tools").items.slice(1)).toEqual(others);
    expect(parsed([find ?? ""])).toMatchObject([{ description: expect.stringMatching(/^Find tools of one, two\. /) }]);
    const told = metaExposure.told?.(view);
    expect(metaExposure.list(none, "tools", { told }).items[0]).toBe(find);
  });

  test("titles stand where Claude Code reads them, too", () => {
    for (const { title, annotations } of parsed(metaExposure.list(view, "tools").items))
      expect(annotations).toMatchObject({ title });
  });

  test("flat shows every tool under its own name, with its UI where it can be read", () => {
    expect(parsed(flatExposure.list(view, "tools").items)).toMatchObject([
      { name: "one-tool", _meta: { ui: { resourceUri: "ui://one/main", x: 1 }, "ui/resourceUri": "ui://one/main" } },
      { name: "two-tool" },
    ]);
  });

  test("resources, templates and prompts have names that lead back", () => {
    expect(parsed(metaExposure.list(view, "resources").items).map((item) => item["uri"])).toEqual([
      "toolyard://one/db%3A%2F%2F0",
      "toolyard://one/db%3A%2F%2F1",
      "toolyard://two/db%3A%2F%2F0",
    ]);
    expect(parsed(metaExposure.list(view, "resourceTemplates").items)[0]).toMatchObject({
      uriTemplate: "toolyard://one/raw/db://{id}",
    });
    expect(parsed(metaExposure.list(view, "prompts").items).map((item) => item["name"])).toEqual([
      "one-ask",
      "two-ask",
    ]);
    expect(resolvePrompt(view, "two-ask", undefined)).toMatchObject({ kind: "prompt", prompt: { server: "two" } });
    expect(resolveCompletion(view, { type: "ref/prompt", name: "one-ask" })).toMatchObject({
      kind: "complete",
      server: { slug: "one" },
      ref: { name: "ask" },
    });
    expect(resolveCompletion(view, { type: "ref/resource", uri: "toolyard://two/raw/db://{id}" })).toMatchObject({
      server: { slug: "two" },
      ref: { uri: "db://{id}" },
    });
  });

  test("a resource is read by any URI that was given out; one of several servers is refused with all of them", () => {
    for (const uri of ["one|db://1", "toolyard://one/db%3A%2F%2F1", "toolyard://one/raw/db://1", "db://1"])
      expect(resolveRead(view, uri, "native")).toMatchObject({ kind: "read", server: { slug: "one" }, uri: "db://1" });
    expect(() => resolveRead(view, "db://0", "native")).toThrow(
      expect.objectContaining({ code: "RESOURCE_UNKNOWN", data: { uris: ["one|db://0", "two|db://0"] } }),
    );
    for (const uri of ["", "nobody|db://1", "toolyard://nobody/x", "db://nowhere"])
      expect(() => resolveRead(view, uri, "native"), uri).toThrow(
        expect.objectContaining({ code: "RESOURCE_UNKNOWN" }),
      );
    expect(() => resolvePrompt(view, "ask", undefined)).toThrow(expect.objectContaining({ code: "PROMPT_UNKNOWN" }));
    for (const ref of [{}, { type: "ref/prompt", name: "nobody" }, { type: "ref/resource" }])
      expect(() => resolveCompletion(view, ref)).toThrow(GatewayError);
  });

  test("a URI of a known server is passed up to a limit, and refused beyond it without being taken apart", () => {
    const long = (characters: number): string => `one|db://${"x".repeat(characters - 9)}`;
    expect(resolveRead(view, long(65_536), "native")).toMatchObject({ kind: "read", server: { slug: "one" } });
    expect(() => resolveRead(view, long(65_537), "native")).toThrow(
      expect.objectContaining({ code: "RESOURCE_UNKNOWN", data: { uri: long(200) } }),
    );
  });

  test("a server's own URI whose host is its slug is read as it is listed, unless it was given out for another", () => {
    const owner = sampleInstance("maps", []);
    const offering = (...uris: string[]) =>
      sampleView([
        {
          ...owner,
          resources: uris.map((uri) => ({
            instance: owner.instance,
            server: owner.server,
            definition: { uri, name: "app" },
          })),
        },
        withOffers("one", 1),
      ]);
    const uriRead = (of: typeof view, uri: string) => {
      const intent = resolveRead(of, uri, "native");
      return intent.kind === "read" && intent.server.slug === "maps" ? intent.uri : undefined;
    };
    const own = offering("ui://maps/app");
    expect(uriRead(own, "ui://maps/app")).toBe("ui://maps/app");
    expect(uriRead(own, "ui://maps/maps/app")).toBe("ui://maps/app");
    expect(uriRead(own, "ui://maps/unlisted")).toBe("ui://unlisted");
    const both = offering("ui://maps/app", "ui://app");
    expect(uriRead(both, "ui://maps/app")).toBe("ui://app");
    expect(uriRead(both, "ui://maps/maps/app")).toBe("ui://maps/app");
  });

  test("the smallest ttl counts, and one private part or one personal server makes the list private", () => {
    const servers = (more: Partial<InstanceCatalog>, instance = "two") =>
      sampleView(
        [
          withOffers("one", 0, { ttlMs: 5_000, cacheScope: "public" }),
          withOffers("two", 0, { cacheScope: "public", instance: instance as InstanceId, ...more }),
        ],
        [sampleStanding("one"), sampleStanding("two", { instance: instance as InstanceId })],
      ).servers;
    expect(toListing(servers({ ttlMs: 100 }), [])).toMatchObject({ ttlMs: 100, cacheScope: "public" });
    expect(toListing(servers({ cacheScope: "private" }), [])).toMatchObject({ ttlMs: 5_000, cacheScope: "private" });
    expect(toListing(servers({}, "two-acme-bob-1"), []).cacheScope).toBe("private");
  });

  test("servers that are not shown are in no list", () => {
    const hidden = sampleView([withOffers("one", 2)], [sampleStanding("one", { shown: false, status: "offline" })]);
    for (const kind of ["resources", "resourceTemplates", "prompts"] as const)
      expect(metaExposure.list(hidden, kind).items).toEqual([]);
    expect(flatExposure.list(hidden, "tools").items).toEqual([]);
  });
});

describe("one server as it is", () => {
  test("names, URIs and results stay; unknown servers are an error", () => {
    const own = createServerExposure("one");
    expect(parsed(own.list(view, "tools").items)).toMatchObject([
      { name: "tool", _meta: { ui: { resourceUri: "ui://main" } } },
    ]);
    expect(own.toUri("one", "db://1")).toBe("db://1");
    expect(own.transparent(view)?.slug).toBe("one");
    expect(() => createServerExposure("nobody").list(view, "tools")).toThrow(
      expect.objectContaining({ code: "SERVER_UNKNOWN" }),
    );
  });
});

describe("list_mcp_resources", () => {
  const list = (more: object = {}, of = view) =>
    renderResourceList(of, {
      kind: "list-resources",
      server: undefined,
      query: undefined,
      cursor: undefined,
      ...more,
    }) as {
      resources: { uri: string; _meta?: object }[];
      resource_templates: unknown[];
      total_resources: number;
      total_templates: number;
      nextCursor?: string;
      unavailable?: object[];
    };

  test("gives URIs as server|originalUri, _meta, and totals", () => {
    expect(list()).toMatchObject({
      total_resources: 3,
      total_templates: 2,
      resources: [{ uri: "one|db://0", _meta: { kept: 0 } }, {}, { uri: "two|db://0" }],
    });
    expect(list({ server: "two" }).resources.map((item) => item.uri)).toEqual(["two|db://0"]);
    expect(list({ query: "NUMBER 1" }).resources.map((item) => item.uri)).toEqual(["one|db://1"]);
    expect(() => list({ server: "thre" })).toThrow(expect.objectContaining({ code: "SERVER_UNKNOWN" }));
  });

  test("pages within its budget until everything was seen, and refuses cursors that it never gave", () => {
    const many = sampleView([withOffers("big", 1_000)]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = list({ cursor }, many);
      expect(estimateTokens(JSON.stringify(page))).toBeLessThan(6_000);
      seen.push(...page.resources.map((item) => item.uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(1_000);
    for (const wrong of ["-1", "1.5", "x", "99999999999"])
      expect(() => list({ cursor: wrong }, many)).toThrow(expect.objectContaining({ code: "CURSOR_INVALID" }));
  });
});

describe("instructions", () => {
  test("name the servers within 300 tokens, without hidden text, and count the rest", () => {
    const parts = Array.from({ length: 200 }, (_, index) =>
      sampleInstance(`server-${index}`, [], `Does \u202Ething ${index}. And more.`),
    );
    const text = describeServers(sampleView(parts), "These exist.");
    expect(estimateTokens(text)).toBeLessThanOrEqual(300);
    expect(text).toContain("- server-0: Does thing 0");
    expect(text).toMatch(/and \d+ more servers$/);
    expect(text).not.toContain("\u202E");
  });
});
