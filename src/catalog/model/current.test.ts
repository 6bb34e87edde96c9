import { array, assert, constantFrom, integer, oneof, property, record } from "fast-check";
import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleStanding } from "../../../test/sample-view.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { createCurrentCatalog, createSharedLists } from "./current.ts";
import type { InstanceCatalog, ToolEntry } from "./snapshot.ts";
import type { MaySee, StatusView, View } from "./view.ts";
import { createViews } from "./views.ts";

const part = (slug: string, instance: string, tools: readonly string[], more: Partial<InstanceCatalog> = {}) => ({
  ...sampleInstance(
    slug,
    tools.map((name) => ({ name })),
    "Pages of instructions.",
  ),
  prompts: [{ server: slug as never, definition: { name: `ask ${tools.join(" ")}` } }],
  instance: instance as InstanceId,
  ...more,
});

test("instances that offer the same hold the same lists, and differ in what is their own", () => {
  const lists = createSharedLists();
  const one = lists.share(part("a", "a-1", ["t"]));
  const other = lists.share(part("a", "a-2", ["t"], { cacheScope: "public", serverTitle: "Mine" }));
  for (const list of ["tools", "resources", "templates", "prompts", "serverInfo", "capabilities", "eras"] as const)
    expect(other[list]).toBe(one[list]);
  expect(other).toMatchObject({ instance: "a-2", cacheScope: "public", serverTitle: "Mine" });
  expect(one).toMatchObject({ instance: "a-1", cacheScope: "private", serverTitle: "a" });
});

test("lists that differ in anything stay apart, and so do those of servers with other names", () => {
  const lists = createSharedLists();
  const one = lists.share(part("a", "a-1", ["t"]));
  const more = lists.share(part("a", "a-2", ["t", "u"]));
  const renamed = lists.share(part("b", "b-1", ["t"]));
  expect(more.tools).not.toBe(one.tools);
  expect(more.prompts).not.toBe(one.prompts);
  expect(renamed.tools.map(({ path }) => path)).toEqual(["b:t"]);
  const quiet = lists.share({ ...part("a", "a-3", ["t"]), instructions: undefined });
  expect(quiet.tools).toBe(one.tools);
  expect([quiet.instructions, one.instructions]).toEqual([undefined, "Pages of instructions."]);
});

test("a list is held until the last instance lets go, and a replacement keeps what it shares", () => {
  const lists = createSharedLists();
  const first = lists.share(part("a", "a-1", ["t"]));
  const second = lists.share(part("a", "a-2", ["t"]));
  lists.release(first);
  lists.release(first);
  expect(lists.share(part("a", "a-3", ["t"])).tools).toBe(second.tools);
  const catalog = createCurrentCatalog();
  catalog.put(part("a", "a-1", ["t"]));
  const before = catalog.get("a-1" as InstanceId);
  catalog.put(part("a", "a-1", ["t"], { ttlMs: 5 }));
  expect(catalog.get("a-1" as InstanceId)?.tools).toBe(before?.tools);
  expect(catalog.get("a-1" as InstanceId)?.ttlMs).toBe(5);
  catalog.remove("a-1" as InstanceId);
  catalog.put(part("a", "a-1", ["t"]));
  expect(catalog.get("a-1" as InstanceId)?.tools).not.toBe(before?.tools);
});

const people = ["alice", "bob", "carol"].map((id): Principal => ({ ...localPrincipal, id: id as PrincipalId }));
const slugs = ["a", "b"];
const instanceOf = (slug: string, person: string) => `${slug}-${person}` as InstanceId;

/** What people see of everything that is kept beside what is theirs: only that may be shared. */
function toSeen(view: View): unknown {
  return {
    servers: view.servers.map(({ slug, instance, status, catalog: own, tools }) => ({
      slug,
      instance,
      status,
      own: own?.instance,
      tools: tools.map(({ path }) => path),
    })),
    names: view.names.tools.map((tool) => [view.names.flatName(tool), view.names.namespacedName(tool)]),
    bare: ["t", "u", "secret"].map((name) => view.names.find(name).kind),
  };
}

test("views never mix: after any changes each person sees what a gateway would show that had only this person", () => {
  const who = constantFrom(...people.map(({ id }) => id as string));
  const slug = constantFrom(...slugs);
  const tools = constantFrom(["t"], ["t", "u"], ["secret", "t"], []);
  const step = oneof(
    record({ kind: constantFrom("put" as const), who, slug, tools }),
    record({ kind: constantFrom("remove" as const), who, slug }),
    record({ kind: constantFrom("status" as const), who, slug, status: constantFrom("online", "offline") }),
    record({ kind: constantFrom("look" as const), who, times: integer({ min: 1, max: 2 }) }),
  );
  const maySee: MaySee = (principal, _standing, tool: ToolEntry) =>
    tool.upstreamName !== "secret" || principal.id === "bob";
  assert(
    property(array(step, { maxLength: 40 }), (steps) => {
      const catalog = createCurrentCatalog();
      const versions = new Map<string, number>();
      const standings = new Map<string, StatusView[]>(
        people.map(({ id }) => [
          id,
          slugs.map((name) => sampleStanding(name, { instance: instanceOf(name, id), namespace: "same" })),
        ]),
      );
      const source = {
        versionOf: ({ id }: Principal) => versions.get(id) ?? 0,
        statusViews: ({ id }: Principal) => standings.get(id) ?? [],
        catalogOf: catalog.get,
      };
      const viewOf = createViews(source, maySee);
      for (const one of steps) {
        const id = one.kind === "look" ? undefined : instanceOf(one.slug, one.who);
        if (one.kind === "put") catalog.put(part(one.slug, id as string, one.tools));
        else if (one.kind === "remove") catalog.remove(id as InstanceId);
        else if (one.kind === "status")
          standings.set(
            one.who,
            (standings.get(one.who) ?? []).map((standing) =>
              standing.instance === id ? { ...standing, status: one.status as StatusView["status"] } : standing,
            ),
          );
        if (one.kind !== "look") versions.set(one.who, (versions.get(one.who) ?? 0) + 1);
        for (const person of people)
          expect(toSeen(viewOf(person))).toEqual(toSeen(createViews(source, maySee)(person)));
        for (const person of people)
          for (const server of viewOf(person).servers) expect(server.instance).toBe(instanceOf(server.slug, person.id));
      }
    }),
    { numRuns: 100 },
  );
});
