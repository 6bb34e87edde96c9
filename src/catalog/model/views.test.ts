import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleStanding, sampleView } from "../../../test/sample-view.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { createCurrentCatalog } from "./current.ts";
import type { StatusView, ViewSource } from "./view.ts";
import { createViews } from "./views.ts";

const alice: Principal = { ...localPrincipal, id: "alice" as PrincipalId };
const bob: Principal = { ...localPrincipal, id: "bob" as PrincipalId };

/** People with instances of their own, whose versions and standings a test may change. */
function createWorld(standings: Readonly<Record<string, readonly StatusView[]>>) {
  const catalog = createCurrentCatalog();
  const versions = new Map<string, number>();
  const now = new Map(Object.entries(standings));
  const source: ViewSource = {
    versionOf: ({ id }) => versions.get(id) ?? 0,
    statusViews: ({ id }) => now.get(id) ?? [],
    catalogOf: catalog.get,
  };
  return {
    catalog,
    source,
    change(person: string, next = now.get(person) ?? []): void {
      now.set(person, next);
      versions.set(person, (versions.get(person) ?? 0) + 1);
    },
  };
}

/** `a` of one person, as an instance of its own. */
const own = (slug: string, person: string): StatusView =>
  sampleStanding(slug, { instance: `${slug}-${person}` as InstanceId });
const offer = (slug: string, person: string, ...names: string[]) => ({
  ...sampleInstance(
    slug,
    names.map((name) => ({ name })),
  ),
  instance: `${slug}-${person}` as InstanceId,
});

test("a view is built once for a principal, until something of that principal's changes", () => {
  const world = createWorld({ alice: [own("a", "alice")], bob: [own("a", "bob")] });
  world.catalog.put(offer("a", "alice", "t"));
  world.catalog.put(offer("a", "bob", "t"));
  const viewOf = createViews(world.source, () => true);
  const first = viewOf(alice);
  const other = viewOf(bob);
  expect(viewOf(alice)).toBe(first);
  expect(other).not.toBe(first);
  world.catalog.remove("a-alice" as InstanceId);
  world.change("alice");
  const second = viewOf(alice);
  expect(second).not.toBe(first);
  expect(second.version).toBeGreaterThan(first.version);
  expect(second.servers[0]).toMatchObject({ catalog: undefined, tools: [] });
  // A reader keeps the one that it began with, and somebody else's did not change.
  expect(first.servers[0]?.tools).toHaveLength(1);
  expect(viewOf(bob)).toBe(other);
});

test("of a view that changed, the servers to which nothing happened are the same", () => {
  const world = createWorld({ alice: [own("a", "alice"), own("b", "alice")] });
  for (const slug of ["a", "b"]) world.catalog.put(offer(slug, "alice", "t"));
  const viewOf = createViews(world.source, () => true);
  const before = viewOf(alice);
  const [a] = before.servers;
  const names = before.names;
  world.change("alice", [
    world.source.statusViews(alice)[0] as StatusView,
    { ...own("b", "alice"), status: "offline", shown: false },
  ]);
  const after = viewOf(alice);
  expect(after.servers[0]).toBe(a);
  expect(after.servers[1]).not.toBe(before.servers[1]);
  expect(after.server("b")?.status).toBe("offline");
  // A status is no part of any name.
  expect(after.names).toBe(names);
  world.catalog.put(offer("b", "alice", "t", "u"));
  world.change("alice");
  expect(viewOf(alice).names.find("b:u").kind).toBe("one");
});

test("servers whose namespace another one takes are made anew with it", () => {
  const world = createWorld({ alice: [own("a", "alice")] });
  world.catalog.put(offer("a", "alice", "t"));
  world.catalog.put(offer("b", "alice", "t"));
  const viewOf = createViews(world.source, () => true);
  expect(viewOf(alice).server("a")?.namespace).toBe("a");
  const kept = world.source.statusViews(alice)[0] as StatusView;
  world.change("alice", [kept, { ...own("b", "alice"), namespace: "a" }]);
  const namespaces = viewOf(alice).servers.map(({ namespace }) => namespace);
  expect(new Set(namespaces).size).toBe(2);
});

test("people who have the same share lists and names, and each calls instances of their own", () => {
  const world = createWorld({ alice: [own("a", "alice")], bob: [own("a", "bob")] });
  for (const person of ["alice", "bob"]) world.catalog.put(offer("a", person, "t", "u"));
  const viewOf = createViews(world.source, () => true);
  const [one, other] = [viewOf(alice), viewOf(bob)];
  expect(one.server("a")?.tools).toBe(other.server("a")?.tools);
  expect(one.names).toBe(other.names);
  expect(one.server("a")?.instance).toBe("a-alice");
  expect(other.server("a")?.instance).toBe("a-bob");
});

test("the same offer under different rights stays apart, and equal rights share", () => {
  const carol: Principal = { ...localPrincipal, id: "carol" as PrincipalId };
  const people = { alice: [own("a", "alice")], bob: [own("a", "bob")], carol: [own("a", "carol")] };
  const world = createWorld(people);
  for (const person of Object.keys(people)) world.catalog.put(offer("a", person, "open", "secret"));
  const viewOf = createViews(
    world.source,
    (principal, _server, tool) => principal.id === "alice" || tool.upstreamName !== "secret",
  );
  const toolsOf = (principal: Principal) => viewOf(principal).server("a")?.tools;
  expect(toolsOf(alice)?.map((tool) => tool.path)).toEqual(["a:open", "a:secret"]);
  expect(toolsOf(bob)?.map((tool) => tool.path)).toEqual(["a:open"]);
  expect(toolsOf(bob)).toBe(toolsOf(carol));
  expect(viewOf(bob).names.find("a:secret")).toEqual({ kind: "none" });
  expect(viewOf(alice).names.find("a:secret").kind).toBe("one");
});

test("a person whose rights change sees others at once", () => {
  const world = createWorld({ alice: [own("a", "alice")] });
  world.catalog.put(offer("a", "alice", "open", "secret"));
  const viewOf = createViews(
    world.source,
    (principal, _server, tool) => tool.upstreamName !== "secret" || principal.roles.includes("admin"),
  );
  const namesFor = (roles: readonly string[]) =>
    viewOf({ ...alice, roles }).servers[0]?.tools.map((tool) => tool.upstreamName);
  expect(namesFor(["admin"])).toEqual(["open", "secret"]);
  expect(namesFor([])).toEqual(["open"]);
  expect(namesFor(["admin"])).toEqual(["open", "secret"]);
});

test("servers are found by their slug, and nothing else is", () => {
  const view = sampleView([sampleInstance("a", [])]);
  expect(view.server("a")?.slug).toBe("a");
  for (const slug of ["A", "", "__proto__", "constructor"]) expect(view.server(slug)).toBeUndefined();
});
