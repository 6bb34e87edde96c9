import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleStanding, sampleView } from "../../../test/sample-view.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { emptyCatalog, withInstance, withoutInstance, type Catalog } from "./snapshot.ts";
import { createViews, type ViewSource } from "./view.ts";

const alice: Principal = { ...localPrincipal, id: "alice" as PrincipalId };

test("a view is built once for a principal, a catalog and a set of statuses", () => {
  let catalog: Catalog = withInstance(emptyCatalog, sampleInstance("a", [{ name: "t" }]));
  const source = { statusVersion: 0, statusViews: () => [sampleStanding("a")] };
  const viewOf = createViews(
    () => catalog,
    source satisfies ViewSource,
    () => true,
  );
  const first = viewOf(localPrincipal);
  expect(viewOf(localPrincipal)).toBe(first);
  expect(viewOf(alice)).not.toBe(first);
  source.statusVersion += 1;
  const second = viewOf(localPrincipal);
  expect(second).not.toBe(first);
  catalog = withoutInstance(catalog, "a" as never);
  expect(viewOf(localPrincipal)).not.toBe(second);
  // A reader keeps the view that it began with.
  expect(first.servers[0]?.tools).toHaveLength(1);
  expect(viewOf(localPrincipal).servers[0]).toMatchObject({ catalog: undefined, tools: [] });
});

test("what a principal may not see is in no list and has no name", () => {
  const catalog = withInstance(emptyCatalog, sampleInstance("a", [{ name: "open" }, { name: "secret" }]));
  const viewOf = createViews(
    () => catalog,
    { statusVersion: 0, statusViews: () => [sampleStanding("a")] },
    (principal, _server, tool) => principal.id !== "alice" || tool.upstreamName !== "secret",
  );
  expect(viewOf(alice).servers[0]?.tools.map((tool) => tool.upstreamName)).toEqual(["open"]);
  expect(viewOf(alice).names.find("a:secret")).toEqual({ kind: "none" });
  expect(viewOf(localPrincipal).names.find("a:secret").kind).toBe("one");
});

test("servers are found by their slug, and nothing else is", () => {
  const view = sampleView([sampleInstance("a", [])]);
  expect(view.server("a")?.slug).toBe("a");
  for (const slug of ["A", "", "__proto__", "constructor"]) expect(view.server(slug)).toBeUndefined();
});
