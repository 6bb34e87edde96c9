import { describe, expect, test } from "vitest";
import { noneLoaded } from "../../src/catalog/model/names/namespace-names.ts";
import type { ToolEntry } from "../../src/catalog/model/snapshot.ts";
import type { View, ViewServer } from "../../src/catalog/model/view.ts";
import type { NamespaceSettings } from "../../src/config/config.ts";
import { createEventBus } from "../../src/kernel/events/event-bus.ts";
import type { GatewayEvent } from "../../src/kernel/events/event.ts";
import { createNamespaceLoads, type NamespaceLoads } from "../../src/engine/namespaces/namespace-loads.ts";
import type { KeptUse } from "../../src/store/store.ts";
import { GatewayError } from "../../src/kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../src/kernel/ids.ts";
import { localPrincipal, type Principal } from "../../src/kernel/principal.ts";
import { createManualClock, settle, type ManualClock } from "../harness/manual-clock.ts";
import { sampleInstance } from "../sample-catalog.ts";

const standard: NamespaceSettings = {
  enabled: true,
  maxLoaded: 20,
  cacheTtlMs: 300_000,
  preload: [],
  parallelLoading: true,
  helpTool: "toolyard_help",
  legacySupport: true,
  deprecationWarnings: true,
  autoMigration: false,
};
const never = new AbortController().signal;

interface World {
  readonly loads: NamespaceLoads;
  readonly clock: ManualClock;
  readonly events: GatewayEvent[];
  readonly refreshed: string[];
  readonly prepared: Set<string>;
  readonly saved: KeptUse[][];
  readonly servers: ViewServer[];
  failure: GatewayError | undefined;
  gate: Promise<void>;
  running: number;
  mostRunning: number;
  server(slug: string): ViewServer;
  call(slug: string, tool: string, principal?: Principal): void;
  loaded(principal?: Principal): string[];
}

function createWorld(
  slugs: readonly string[],
  settings: Partial<NamespaceSettings> = {},
  kept: readonly KeptUse[] = [],
): World {
  const clock = createManualClock();
  const events: GatewayEvent[] = [];
  const bus = createEventBus((error) => {
    throw error;
  });
  bus.subscribe((event) => void events.push(event));
  const servers = slugs.map((slug) => toServer(slug));
  const world = {
    clock,
    events,
    refreshed: [] as string[],
    prepared: new Set<string>(),
    saved: [] as KeptUse[][],
    servers,
    failure: undefined as GatewayError | undefined,
    gate: Promise.resolve(),
    running: 0,
    mostRunning: 0,
  };
  const loads = createNamespaceLoads({
    settings: () => ({ ...standard, ...settings }),
    viewOf: (principal) => ({ principal, servers, loaded: noneLoaded }) as unknown as View,
    async refresh(instance, maxAgeMs) {
      if (maxAgeMs !== Number.POSITIVE_INFINITY) world.refreshed.push(instance);
      world.running += 1;
      world.mostRunning = Math.max(world.mostRunning, world.running);
      await world.gate;
      world.running -= 1;
      if (world.failure !== undefined) throw world.failure;
    },
    prepare(tools) {
      for (const tool of tools) world.prepared.add(tool.path);
    },
    release: (tools: readonly ToolEntry[]) => tools.forEach((tool) => world.prepared.delete(tool.path)),
    announce: undefined,
    store: {
      load: async () => await Promise.resolve(kept),
      save: (uses) => void world.saved.push([...uses]),
      [Symbol.asyncDispose]: async () => await Promise.resolve(),
    },
    events: bus,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    clock,
  });
  return Object.assign(world, {
    loads,
    server: (slug: string) => servers.find((server) => server.slug === slug) as ViewServer,
    call: (slug: string, tool: string, principal: Principal = localPrincipal) =>
      bus.emit({
        type: "mcp.request.logs",
        atMs: clock.now(),
        instance: slug as InstanceId,
        server: slug as ViewServer["slug"],
        principal: principal.id,
        method: "tools/call",
        team: null,
        via: "http",
        client: undefined,
        path: "server:secret_tool",
        waitMs: 0,
        argumentBytes: 0,
        resultBytes: 0,
        cutTokens: 0,
        serverCode: undefined,
        name: tool,
        durationMs: 1,
        outcome: "ok",
      }),
    loaded: (principal: Principal = localPrincipal) => [...loads.of(principal).keys()],
  });
}

function ignore(): void {
  // The log is not what these tests are about.
}

function toServer(slug: string, change: Partial<ViewServer> = {}): ViewServer {
  const part = sampleInstance(slug, [{ name: "one" }, { name: "two" }]);
  return {
    slug: part.server,
    title: slug,
    namespace: slug,
    category: undefined,
    icon: undefined,
    priority: "normal",
    transport: "stdio",
    instance: part.instance,
    status: "online",
    dormant: false,
    reason: "",
    shown: true,
    catalog: part,
    tools: part.tools,
    ...change,
  };
}

describe("what is loaded", () => {
  test("loading refreshes, builds validators and tells; once it is loaded it is only used", async () => {
    const world = createWorld(["a"]);
    await world.loads.load(localPrincipal, world.server("a"), never);
    expect([world.loaded(), [...world.prepared], world.refreshed]).toEqual([["a"], ["a:one", "a:two"], ["a"]]);
    const before = world.loads.of(localPrincipal);
    await world.loads.load(localPrincipal, world.server("a"), never);
    await settle();
    expect(world.loads.of(localPrincipal)).toBe(before);
    expect(world.events.map((event) => event.type)).toEqual(["namespace.loaded", "namespace.used"]);
    expect(world.loads.stats(localPrincipal)).toMatchObject({ loads: 1, hits: 1, evictions: 0, errors: 0 });
  });

  test("any number of callers share one loading; one that gives up does not end it", async () => {
    const world = createWorld(["a"]);
    let open = (): void => undefined;
    world.gate = new Promise((resolve) => (open = resolve));
    const impatient = new AbortController();
    const first = world.loads.load(localPrincipal, world.server("a"), impatient.signal);
    const second = world.loads.load(localPrincipal, world.server("a"), never);
    await settle();
    impatient.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    open();
    expect((await second).loadedAtMs).toEqual(expect.any(Number));
    expect(world.refreshed).toEqual(["a"]);
  });

  test("belongs to the principal: another's set is another, and its validators stay for both", async () => {
    const world = createWorld(["a"], { maxLoaded: 1, cacheTtlMs: 1_000 });
    const other: Principal = { ...localPrincipal, id: "other" as PrincipalId };
    await world.loads.load(localPrincipal, world.server("a"), never);
    expect(world.loaded(other)).toEqual([]);
    await world.clock.advance(600);
    await world.loads.load(other, world.server("a"), never);
    await world.clock.advance(600);
    expect([world.loaded(), world.loaded(other), world.prepared.size]).toEqual([[], ["a"], 2]);
    await world.clock.advance(600);
    expect([world.loaded(other), world.prepared.size]).toEqual([[], 0]);
  });

  test("goes when it was not used for the TTL; a call is a use", async () => {
    const world = createWorld(["a", "b"], { cacheTtlMs: 10_000 });
    await world.loads.load(localPrincipal, world.server("a"), never);
    await world.loads.load(localPrincipal, world.server("b"), never);
    await world.clock.advance(8_000);
    world.call("a", "one");
    await world.clock.advance(8_000);
    expect(world.loaded()).toEqual(["a"]);
    expect([...world.prepared]).toEqual(["a:one", "a:two"]);
    expect(world.events.filter((event) => event.type === "namespace.evicted")).toMatchObject([
      { namespace: "b", why: "idle" },
    ]);
    await world.clock.advance(8_000);
    expect(world.loaded()).toEqual([]);
  });

  test("of more than the cap the least used goes, never one that is to be kept", async () => {
    const world = createWorld(["often", "seldom", "kept", "new"], { maxLoaded: 3, preload: ["kept"] });
    for (const slug of ["seldom", "often", "kept"]) await world.loads.load(localPrincipal, world.server(slug), never);
    world.call("often", "one");
    world.call("often", "one");
    await world.loads.load(localPrincipal, world.server("new"), never);
    expect(world.loaded().sort()).toEqual(["kept", "new", "often"]);
    expect(world.events.filter((event) => event.type === "namespace.evicted")).toMatchObject([
      { namespace: "seldom", why: "room" },
    ]);
    await world.clock.advance(400_000);
    expect(world.loaded()).toEqual(["kept"]);
  });

  test("where everything is to be kept, a newcomer is listed but not loaded", async () => {
    const world = createWorld(["a", "b"], { maxLoaded: 1, preload: ["a"] });
    await world.loads.load(localPrincipal, world.server("a"), never);
    expect(await world.loads.load(localPrincipal, world.server("b"), never)).toMatchObject({ loadedAtMs: undefined });
    expect(world.loaded()).toEqual(["a"]);
  });

  test("tools that are known are listed when they cannot be fetched again; a server that nobody sees is an error", async () => {
    const world = createWorld(["a"]);
    world.failure = new GatewayError("UPSTREAM_TIMEOUT", "a did not answer");
    expect(await world.loads.load(localPrincipal, world.server("a"), never)).toMatchObject({
      stale: "a did not answer",
    });
    world.servers[0] = toServer("a", { shown: false, status: "offline" });
    await world.clock.advance(400_000);
    await expect(world.loads.load(localPrincipal, world.server("a"), never)).rejects.toMatchObject({
      code: "UPSTREAM_TIMEOUT",
    });
    expect(world.loads.stats(localPrincipal).errors).toBe(1);
  });

  test("several load at the same time, or one after the other when configured so", async () => {
    const slugs = Array.from({ length: 12 }, (_, index) => `s${index}`);
    for (const [parallelLoading, most] of [
      [true, 8],
      [false, 1],
    ] as const) {
      const world = createWorld(slugs, { parallelLoading });
      await Promise.all(
        slugs.map(
          async (slug) => await world.loads.load(localPrincipal, world.server(slug), new AbortController().signal),
        ),
      );
      expect([world.mostRunning, world.loaded().length]).toEqual([most, 12]);
    }
  });

  test("disabled, nothing is kept loaded", async () => {
    const world = createWorld(["a"], { enabled: false, preload: ["a"] });
    expect(await world.loads.load(localPrincipal, world.server("a"), never)).toEqual({
      loadedAtMs: undefined,
      stale: undefined,
    });
    await world.loads.preload(localPrincipal);
    expect(world.loaded()).toEqual([]);
  });
});

describe("preloading", () => {
  test("loads what is configured and what is of high priority, and keeps it", async () => {
    const world = createWorld(["a", "b", "c"], { preload: ["b", "nowhere"], cacheTtlMs: 1_000 });
    world.servers[2] = toServer("c", { priority: "high" });
    await world.loads.preload(localPrincipal);
    expect(world.loaded().sort()).toEqual(["b", "c"]);
    await world.clock.advance(60_000);
    expect(world.loaded().sort()).toEqual(["b", "c"]);
  });

  test("loads again what was loaded and used most in an earlier life, without asking its server", async () => {
    const used = (instance: string, calls: number, loads = 1): KeptUse => ({
      principal: localPrincipal.id,
      instance: instance as InstanceId,
      loads,
      calls,
      lastUsedAtMs: 1,
      tools: { one: calls },
    });
    const world = createWorld(["a", "b", "c", "d", "e", "f", "g"], {}, [
      used("a", 1),
      used("b", 9),
      used("c", 5),
      used("d", 7),
      used("e", 3),
      used("f", 8),
      used("g", 100, 0),
    ]);
    await world.loads.preload(localPrincipal);
    expect(world.loaded().sort()).toEqual(["b", "c", "d", "e", "f"]);
    expect(world.refreshed).toEqual([]);
  });

  test("begins at a principal's first request", async () => {
    const world = createWorld(["a"], { preload: ["a"] });
    expect(world.loaded()).toEqual([]);
    await world.clock.advance(1);
    await settle();
    await settle();
    expect(world.loaded()).toEqual(["a"]);
  });
});

test("uses are counted by namespace and tool, and reach the store together", async () => {
  const world = createWorld(["a", "b"]);
  await world.loads.load(localPrincipal, world.server("a"), never);
  world.call("a", "one");
  world.call("a", "one");
  world.call("b", "two");
  expect(world.saved).toEqual([]);
  await world.clock.advance(10_000);
  expect(world.saved).toHaveLength(1);
  expect(world.saved[0]).toMatchObject([
    { instance: "a", loads: 1, calls: 2, tools: { one: 2 } },
    { instance: "b", loads: 0, calls: 1, tools: { two: 1 } },
  ]);
  world.call("b", "two");
  await world.loads[Symbol.asyncDispose]();
  expect(world.saved).toHaveLength(2);
});
