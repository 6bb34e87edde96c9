import { expect, test } from "vitest";
import { createFakeWorld, fakeServer, type FakeWorld } from "../../../../test/harness/fake-server.ts";
import { settle } from "../../../../test/harness/manual-clock.ts";
import type { Config, Person, ServerConfig, ServerOverrides, Settings } from "../../../config/config.ts";
import type { PrincipalId, ServerSlug } from "../../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../../kernel/principal.ts";
import { createConfigDirectory } from "../../../people/directory/config-directory.ts";
import { createFleet, type Fleet } from "./fleet.ts";

const never = new AbortController().signal;

function configOf(servers: readonly ServerConfig[], people: Readonly<Record<string, Partial<Person>>> = {}): Config {
  const principals = Object.entries(people).map(
    ([id, person]) =>
      [
        id,
        {
          id: id as PrincipalId,
          team: "acme",
          tokenHashes: [`sha256:${id}`],
          roles: ["member"],
          servers: new Map(),
          ...person,
        },
      ] as const,
  );
  return {
    file: undefined,
    servers,
    settings: { profiles: {}, auth: { tokenHashes: [] } } as unknown as Settings,
    people: { principals: new Map(principals), teams: new Map() },
    warnings: [],
  };
}

const server = (slug: string, over: Partial<ServerConfig> = {}): ServerConfig =>
  fakeServer({ slug: slug as ServerSlug, key: slug, hash: `hash-${slug}`, ...over });
const principal = (id: string): Principal => ({
  id: id as PrincipalId,
  team: "acme",
  roles: ["member"],
  scopes: [],
  user: null,
  via: "config",
});
const withToken = (token: string): Partial<Person> => ({
  servers: new Map<string, ServerOverrides>([["own", { env: { TOKEN: token } }]]),
});

async function fleetIn(world: FakeWorld, config: Config): Promise<Fleet> {
  const people = createConfigDirectory(config);
  const fleet = createFleet({ ...world.deps, people });
  const { reconcile } = fleet;
  fleet.reconcile = async (next) => {
    people.follow(next as Config);
    return await reconcile(next);
  };
  await fleet.reconcile(config);
  await settle();
  return fleet;
}

test("a changed configuration touches only its server", async () => {
  const world = createFakeWorld();
  const fleet = await fleetIn(world, configOf([server("a"), server("b"), server("c")]));
  const [a, b] = world.connections;
  const report = await fleet.reconcile(configOf([server("a"), server("b", { hash: "other" }), server("d")]));
  await settle();
  expect(report).toEqual({ added: 1, changed: 1, removed: 1 });
  expect(world.connections.map((connection) => connection.isDisposed)).toEqual([false, true, true, false, false]);
  expect(fleet.of(localPrincipal).map((instance) => instance.id)).toEqual(["a", "b", "d"]);
  expect(fleet.get("a" as never)?.connection).toBe(a);
  expect(fleet.get("b" as never)?.connection).not.toBe(b);
  expect([...world.kept.keys()].sort()).toEqual(["a", "b", "d"]);
});

test("what does not reach the server is applied without a restart", async () => {
  const world = createFakeWorld();
  const fleet = await fleetIn(world, configOf([server("a")]));
  await fleet.reconcile(configOf([server("a", { callTimeoutMs: 7, displayName: "Better", namespace: "n" })]));
  await settle();
  expect(world.connections).toHaveLength(1);
  expect(fleet.get("a" as never)?.statusView()).toMatchObject({ title: "Better", namespace: "n" });
  expect(fleet.get("a" as never)?.server.callTimeoutMs).toBe(7);
});

test("switched off and on again", async () => {
  const world = createFakeWorld();
  const fleet = await fleetIn(world, configOf([server("a")]));
  await fleet.reconcile(configOf([server("a", { disabledReason: "it is disabled in the file" })]));
  await settle();
  expect(fleet.get("a" as never)?.status).toBe("disabled");
  expect(world.connections[0]?.isDisposed).toBe(true);
  await fleet.reconcile(configOf([server("a")]));
  await settle();
  // Its tools are known: nothing is started before it is needed.
  expect(fleet.get("a" as never)?.statusView()).toMatchObject({ status: "online", dormant: true });
});

test("a successor waits until its predecessor is gone", async () => {
  const world = createFakeWorld();
  const fleet = await fleetIn(world, configOf([server("a")]));
  let gone: () => void = () => undefined;
  const [first] = world.connections;
  if (first !== undefined)
    first[Symbol.asyncDispose] = async () => await new Promise<void>((resolve) => (gone = resolve));
  await fleet.reconcile(configOf([server("a", { hash: "other" })]));
  await settle();
  expect(world.connections).toHaveLength(1);
  gone();
  await settle();
  expect(world.connections).toHaveLength(2);
});

test("FAULT 96: each principal has an instance of its own, made at the first request, and sees no other", async () => {
  const world = createFakeWorld();
  const own = server("own", { scope: "user" });
  const fleet = await fleetIn(world, configOf([own, server("all")], { alice: withToken("A"), bob: withToken("B") }));
  expect(world.connections.map(({ instance }) => instance)).toEqual(["all"]);
  const alices = fleet.of(principal("alice"));
  await settle();
  expect(alices.map((instance) => instance.id)).toEqual([
    expect.stringMatching(/^own-acme-alice-[0-9a-f]{12}$/),
    "all",
  ]);
  expect(world.connections).toHaveLength(2);
  const bobs = fleet.of(principal("bob"));
  await settle();
  expect(bobs[0]?.id).not.toBe(alices[0]?.id);
  expect(bobs[0]?.server.transport).toMatchObject({ env: { TOKEN: "B" } });
  expect(fleet.of(principal("alice"))).toEqual(alices);
  // Somebody who is not in the configuration has none.
  expect(fleet.of(principal("mallory")).map((instance) => instance.id)).toEqual(["all"]);
});

test("FAULT 86: two hundred principals at once: one start each, never more at a time than allowed", async () => {
  const world = createFakeWorld();
  world.settings = { ...world.settings, parallelStarts: 4 };
  const people = Object.fromEntries(Array.from({ length: 200 }, (_value, index) => [`user-${index}`, {}]));
  const fleet = await fleetIn(world, configOf([server("own", { scope: "user" })], people));
  let running = 0;
  let most = 0;
  const { open } = world.deps;
  Object.assign(world.deps, {
    open: async (...given: Parameters<typeof open>) => {
      running += 1;
      most = Math.max(most, running);
      await settle();
      running -= 1;
      return await open(...given);
    },
  });
  const all = Object.keys(people).flatMap((id) =>
    [1, 2, 3].map(async () => await fleet.of(principal(id))[0]?.acquire(never)),
  );
  await Promise.all(all);
  expect(world.connections).toHaveLength(200);
  expect(most).toBeLessThanOrEqual(4);
});

test("FAULT 98: a person removed, moved or given another token loses what was started for them, and nobody else does", async () => {
  const own = server("own", { scope: "user" });
  const before = configOf([own], { alice: withToken("A"), bob: withToken("B") });
  for (const [change, people] of [
    ["removed", { bob: withToken("B") }],
    ["moved to another team", { alice: { ...withToken("A"), team: "other" }, bob: withToken("B") }],
    ["given another token", { alice: { ...withToken("A"), tokenHashes: ["sha256:new"] }, bob: withToken("B") }],
    ["given another value", { alice: withToken("AA"), bob: withToken("B") }],
  ] as const) {
    const world = createFakeWorld();
    const fleet = await fleetIn(world, before);
    for (const id of ["alice", "bob"]) fleet.of(principal(id));
    await settle();
    await fleet.reconcile(configOf([own], people));
    await settle();
    expect([change, ...world.connections.map((connection) => connection.isDisposed)]).toEqual([change, true, false]);
  }
});

test("a value that is missing, and then filled in", async () => {
  const world = createFakeWorld();
  const own = server("own", { scope: "user", required: { user: ["env.TOKEN"], team: [] } });
  const fleet = await fleetIn(world, configOf([own], { alice: {} }));
  expect(fleet.of(principal("alice"))[0]?.statusView()).toMatchObject({
    status: "awaiting_user_config",
    reason: "missing: env.TOKEN",
  });
  await fleet.reconcile(configOf([own], { alice: withToken("A") }));
  expect(fleet.of(principal("alice"))[0]?.status).not.toBe("awaiting_user_config");
  await settle();
  expect(world.connections).toHaveLength(1);
});

test("a person's own server that starts, changes or offers something else moves nobody else's version", async () => {
  const world = createFakeWorld();
  const people = { alice: withToken("a"), bob: withToken("b") };
  const fleet = await fleetIn(world, configOf([server("own", { scope: "user" }), server("all")], people));
  const [alice, bob] = [principal("alice"), principal("bob")];
  const own = fleet.find(alice, "own");
  fleet.find(bob, "own");
  await settle();
  const versions = () => [fleet.versionOf(alice), fleet.versionOf(bob)] as const;
  const [first, other] = versions();
  await own?.stop();
  await own?.restart(never);
  await settle();
  expect(versions()[0]).toBeGreaterThan(first);
  expect(versions()[1]).toBe(other);
  const [second] = versions();
  world.tools = ["one", "two"];
  await own?.refresh(never);
  expect(fleet.catalogOf(own?.id as never)?.tools).toHaveLength(2);
  expect(versions()[0]).toBeGreaterThan(second);
  expect(versions()[1]).toBe(other);
  const [third] = versions();
  await fleet.find(alice, "all")?.refresh(never);
  expect(versions()[0]).toBeGreaterThan(third);
  expect(versions()[1]).toBeGreaterThan(other);
});

test("how an instance stands is the same object until something changes", async () => {
  const world = createFakeWorld();
  const fleet = await fleetIn(world, configOf([server("a")]));
  const [before] = fleet.statusViews(localPrincipal);
  expect(fleet.statusViews(localPrincipal)[0]).toBe(before);
  await fleet.find(localPrincipal, "a")?.stop();
  const [after] = fleet.statusViews(localPrincipal);
  expect(after).not.toBe(before);
  expect(after?.status).not.toBe(before?.status);
  await fleet.reconcile(configOf([server("a", { displayName: "Better" })]));
  expect(fleet.statusViews(localPrincipal)[0]).toMatchObject({ title: "Better" });
});
