import { noToolRules } from "../../../test/harness/fake-server.ts";
import { describe, expect, test } from "vitest";
import { createFakeWorld, fakeServer, type FakeWorld } from "../../../test/harness/fake-server.ts";
import { settle } from "../../../test/harness/manual-clock.ts";
import type { ServerConfig } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { createInstance } from "./create-instance.ts";
import type { Instance } from "./instance.ts";
import type { KeptCatalog } from "./instance-deps.ts";

const never = new AbortController().signal;
const id = "x" as InstanceId;
const crash = { kind: "exited", code: 1, signal: null, inFlight: 0, stderr: ["boom"] } as const;
const http = fakeServer({ transport: { kind: "http", url: "http://x/mcp", headers: {} } });

function instanceIn(world: FakeWorld, server: ServerConfig = fakeServer(), missing: readonly string[] = []): Instance {
  return createInstance({ id, server, owner: null, missing }, world.deps);
}

/** One that has been started, and listed. */
async function onlineIn(world: FakeWorld, server?: ServerConfig): Promise<Instance> {
  const instance = instanceIn(world, server);
  instance.adopt(undefined);
  await settle();
  expect(instance.status).toBe("online");
  return instance;
}

function statusesOf(world: FakeWorld): string[] {
  return world.events.flatMap((event) => (event.type === "mcp.server.status_changed" ? [event.to] : []));
}

const toolsOf = (world: FakeWorld): readonly string[] | undefined =>
  world.deps.catalog.get(id)?.tools.map((tool) => tool.upstreamName);

describe("starting", () => {
  test("a server never seen before is started, listed and kept; each step is an event", async () => {
    const world = createFakeWorld();
    await onlineIn(world);
    expect(statusesOf(world)).toEqual(["connecting", "discovering_tools", "syncing_tools", "online"]);
    expect(world.events.map((event) => event.type)).toContain("mcp.server.started");
    expect(world.kept.get(id)).toMatchObject({ hash: "hash-1" });
    expect(toolsOf(world)).toEqual(["one"]);
  });

  test("a stdio server that was kept is not started; a call starts it, and does not list it again", async () => {
    const before = createFakeWorld();
    await onlineIn(before);
    const world = createFakeWorld();
    world.kept.set(id, before.kept.get(id) as never);
    const instance = instanceIn(world);
    instance.adopt(await world.deps.keeper.load(id));
    await settle();
    expect(toolsOf(world)).toEqual(["one"]);
    expect(instance.statusView()).toMatchObject({ status: "online", dormant: true, shown: true });
    expect(world.connections).toHaveLength(0);
    await instance.acquire(never);
    await settle();
    expect(world.connections[0]?.options.knownEras).toEqual(["legacy"]);
    expect(world.events.map((event) => event.type)).toContain("mcp.server.respawned");
  });

  test("what was kept for another configuration is not used", async () => {
    const world = createFakeWorld();
    await onlineIn(world);
    const other = createFakeWorld();
    other.kept.set(id, { ...(world.kept.get(id) as KeptCatalog), hash: "hash-0" });
    const instance = instanceIn(other);
    instance.adopt(await other.deps.keeper.load(id));
    expect(toolsOf(other)).toBeUndefined();
    await settle();
    expect(other.connections).toHaveLength(1);
    expect(instance.status).toBe("online");
  });

  test("a hundred calls share one start", async () => {
    const world = createFakeWorld();
    let open: () => void = () => undefined;
    world.gate = new Promise((resolve) => (open = resolve));
    const instance = instanceIn(world);
    const calls = Array.from({ length: 100 }, async () => await instance.acquire(never));
    open();
    const connections = await Promise.all(calls);
    expect(new Set(connections).size).toBe(1);
    expect(world.connections).toHaveLength(1);
  });

  test("a call that gives up does not end the start of the others", async () => {
    const world = createFakeWorld();
    let open: () => void = () => undefined;
    world.gate = new Promise((resolve) => (open = resolve));
    const instance = instanceIn(world);
    const controller = new AbortController();
    const impatient = instance.acquire(controller.signal);
    const patient = instance.acquire(never);
    controller.abort(new GatewayError("CALL_CANCELLED", "enough"));
    await expect(impatient).rejects.toMatchObject({ code: "CALL_CANCELLED" });
    open();
    expect(await patient).toBe(world.connections[0]);
  });

  test("FAULT 65: the start deadline tells the last stderr lines", async () => {
    const world = createFakeWorld();
    world.gate = new Promise(() => undefined);
    const instance = instanceIn(world, fakeServer({ startTimeoutMs: 30_000 }));
    const call = Promise.resolve(instance.acquire(never)).catch((error: unknown) => error);
    await world.clock.advance(30_000);
    expect(await call).toMatchObject({ code: "START_TIMEOUT", data: { stderr: [] } });
    expect(instance.status).toBe("error");
  });

  test("what its person has not filled in is told, and nothing is started", async () => {
    const world = createFakeWorld();
    const instance = instanceIn(world, fakeServer(), ["env.TOKEN"]);
    instance.adopt(undefined);
    await settle();
    expect(instance.status).toBe("awaiting_user_config");
    expect(() => instance.acquire(never)).toThrow(
      expect.objectContaining({ code: "SERVER_NEEDS_CONFIG", data: { missing: ["env.TOKEN"] } }) as Error,
    );
    expect(world.connections).toHaveLength(0);
  });

  test("a first listing that fails is an error, and the next call tries again", async () => {
    const world = createFakeWorld();
    world.listFails = true;
    const instance = instanceIn(world);
    instance.adopt(undefined);
    await settle();
    expect(instance.statusView()).toMatchObject({
      status: "error",
      reason: expect.stringContaining("no list today") as string,
    });
    expect(world.connections[0]?.isDisposed).toBe(true);
    world.listFails = false;
    await world.clock.advance(1_000);
    await instance.acquire(never);
    await settle();
    expect(instance.status).toBe("online");
  });
});

describe("idleness", () => {
  test("stopped after 180 s without traffic, with its tools still there; the next call starts it", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    await world.clock.advance(179_000);
    instance.tick();
    expect(instance.statusView().dormant).toBe(false);
    await world.clock.advance(1_000);
    instance.tick();
    expect(instance.statusView()).toMatchObject({ dormant: true, status: "online" });
    expect(world.connections[0]?.isDisposed).toBe(true);
    expect(toolsOf(world)).toEqual(["one"]);
    expect(await instance.acquire(never)).toBe(world.connections[1]);
  });

  test("FAULT 85: never with a call in flight, never while somebody listens, never in the first minute", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world, fakeServer({ idleTimeoutMs: 1_000 }));
    const [connection] = world.connections;
    await world.clock.advance(59_000);
    instance.tick();
    expect(instance.statusView().dormant).toBe(false);
    if (connection !== undefined) connection.inFlight = 1;
    await world.clock.advance(300_000);
    instance.tick();
    if (connection !== undefined) connection.inFlight = 0;
    const release = instance.hold();
    await world.clock.advance(300_000);
    instance.tick();
    expect(instance.statusView().dormant).toBe(false);
    release();
    await world.clock.advance(1_000);
    instance.tick();
    expect(instance.statusView().dormant).toBe(true);
  });

  test("0 means never, and HTTP servers have nothing to stop", async () => {
    for (const server of [fakeServer({ idleTimeoutMs: 0 }), http]) {
      const world = createFakeWorld();
      const instance = await onlineIn(world, server);
      await world.clock.advance(10_000_000);
      instance.tick();
      expect(instance.statusView().dormant).toBe(false);
    }
  });
});

describe("crashes", () => {
  test("FAULT 76: 1, 5, 15 s, then given up, with exit code and stderr; a call tries once in ten minutes", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    for (const delayMs of [1_000, 5_000, 15_000]) {
      world.connections.at(-1)?.end(crash);
      await settle();
      expect(instance.status).toBe("restarting");
      await world.clock.advance(delayMs - 1);
      expect(instance.status).toBe("restarting");
      await world.clock.advance(1);
      expect(instance.status).toBe("online");
    }
    world.connections.at(-1)?.end(crash);
    await settle();
    expect(instance.statusView()).toMatchObject({
      status: "permanently_failed",
      shown: false,
      reason: "x exited with code 1; its last output: boom",
    });
    expect(() => instance.acquire(never)).toThrow(
      expect.objectContaining({
        code: "SERVER_FAILED",
        data: { exitCode: 1, signal: null, stderr: ["boom"] },
      }) as Error,
    );
    expect(world.events.filter((event) => event.type === "mcp.server.crashed")).toHaveLength(4);

    await world.clock.advance(600_000);
    world.failure = new GatewayError("UPSTREAM_CLOSED", "x exited with code 1");
    await expect(instance.acquire(never)).rejects.toMatchObject({ code: "SERVER_FAILED" });
    expect(instance.status).toBe("permanently_failed");
    world.failure = undefined;
    await world.clock.advance(599_000);
    expect(() => instance.acquire(never)).toThrow("failed too often");
    await world.clock.advance(1_000);
    await instance.acquire(never);
    await settle();
    expect(instance.status).toBe("online");
  });

  test("after a minute of uptime it is restarted at once, and listed again", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    await world.clock.advance(60_000);
    world.tools = ["two"];
    world.connections[0]?.end(crash);
    await settle();
    expect(instance.status).toBe("online");
    expect(world.connections[0]?.isDisposed).toBe(true);
    expect(toolsOf(world)).toEqual(["two"]);
  });

  test("a restart by hand forgets the crashes", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    for (let round = 0; round < 4; round += 1) {
      world.connections.at(-1)?.end(crash);
      await world.clock.advance(15_000);
    }
    expect(instance.status).toBe("permanently_failed");
    await instance.restart(never);
    await settle();
    expect(instance.status).toBe("online");
    world.connections.at(-1)?.end(crash);
    await settle();
    expect(instance.status).toBe("restarting");
  });

  test("a restart by hand of one that runs never has two processes", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    await instance.restart(never);
    await settle();
    expect(world.connections).toHaveLength(2);
    expect(world.connections[0]?.isDisposed).toBe(true);
    expect(statusesOf(world).slice(4)).toEqual(["command_received", "connecting", "online"]);
  });

  test("a call that waits for a restart is answered by it", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    world.connections[0]?.end(crash);
    await settle();
    const call = instance.acquire(never);
    await world.clock.advance(1_000);
    expect(await call).toBe(world.connections[1]);
  });

  test("stopped by hand stays stopped, whatever calls or ends", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    await instance.stop();
    expect(instance.status).toBe("disabled");
    expect(() => instance.acquire(never)).toThrow(expect.objectContaining({ code: "SERVER_STOPPED" }) as Error);
    await world.clock.advance(1_000_000);
    instance.tick();
    expect(world.connections).toHaveLength(1);
  });
});

describe("remote servers", () => {
  const unreachable = new GatewayError("CONNECT_FAILED", "connection refused");

  test("a call that finds it unreachable makes it offline; one probe at a time goes on a fresh connection", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world, http);
    instance.noteFailure(unreachable);
    expect(instance.status).toBe("offline");
    expect(world.connections[0]?.isDisposed).toBe(true);
    world.failure = unreachable;
    await world.clock.advance(1_000);
    const calls = await Promise.allSettled(Array.from({ length: 50 }, async () => await instance.acquire(never)));
    expect(
      new Set(calls.map((call) => (call.status === "rejected" ? (call.reason as GatewayError).code : ""))),
    ).toEqual(new Set(["SERVER_OFFLINE"]));
    expect(() => instance.acquire(never)).toThrow(expect.objectContaining({ code: "SERVER_OFFLINE" }) as Error);
    world.failure = undefined;
    await world.clock.advance(1_000);
    expect(await instance.acquire(never)).toBe(world.connections[1]);
  });

  test("probed every three minutes; when it is back its tools are listed anew, and the old ones stay when that fails", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world, http);
    world.failure = unreachable;
    world.connections[0]?.end({ kind: "lost", reason: "gone" });
    await settle();
    expect(instance.statusView()).toMatchObject({ status: "offline", shown: false });
    world.failure = undefined;
    world.listFails = true;
    await world.clock.advance(179_999);
    instance.tick();
    expect(instance.status).toBe("offline");
    await world.clock.advance(1);
    instance.tick();
    await settle();
    expect(instance.status).toBe("online");
    expect(toolsOf(world)).toEqual(["one"]);
    world.listFails = false;
    world.tools = ["two"];
    await instance.refresh(never);
    expect(toolsOf(world)).toEqual(["two"]);
  });
});

describe("refresh", () => {
  test("list_changed is followed once a second, and the old list is in force until the new one is complete", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    const [connection] = world.connections;
    world.tools = ["two"];
    for (let call = 0; call < 100; call += 1)
      connection?.options.events.onNotification("notifications/tools/list_changed", {});
    expect(toolsOf(world)).toEqual(["one"]);
    await world.clock.advance(1_000);
    expect(toolsOf(world)).toEqual(["two"]);
    expect(connection?.requests.length).toBeLessThanOrEqual(3);
    expect(instance.status).toBe("online");
  });

  test("an announcement that changes nothing is told, whoever had the list fetched meanwhile, and also after a failure", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    const told = (): number => world.events.filter(({ type }) => type === "catalog.announced").length;
    const announce = (): void =>
      world.connections[0]?.options.events.onNotification("notifications/tools/list_changed", {});
    announce();
    await instance.refresh(never);
    await world.clock.advance(10_000);
    expect(told()).toBe(1);
    world.listFails = true;
    announce();
    await world.clock.advance(10_000);
    expect(told()).toBe(1);
    world.listFails = false;
    await instance.refresh(never);
    expect(told()).toBe(2);
  });

  test("nothing of a server that was removed comes back", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    const refresh = instance.refresh(never).catch((error: unknown) => error);
    await instance.remove("unconfigured");
    expect(await refresh).toMatchObject({ code: "SERVER_UNKNOWN" });
    expect(toolsOf(world)).toBeUndefined();
    expect(() => instance.acquire(never)).toThrow(expect.objectContaining({ code: "SERVER_UNKNOWN" }) as Error);
  });

  test("a renamed tool in the configuration is a renamed tool, without a restart", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    await instance.reconfigure(
      fakeServer({
        tools: {
          ...noToolRules,
          rename: { one: "first" },
        },
        callTimeoutMs: 5,
      }),
    );
    expect(world.deps.catalog.get(id)?.tools.map((tool) => tool.path)).toEqual(["x:first"]);
    expect(instance.server.callTimeoutMs).toBe(5);
    expect(world.connections).toHaveLength(1);
  });
});

describe("what comes late", () => {
  test("a change that is announced on the way to sleep does not wake it; the next call brings the new list", async () => {
    const world = createFakeWorld();
    const instance = await onlineIn(world);
    await world.clock.advance(3_600_000);
    instance.tick();
    expect(instance.state.kind).toBe("dormant");
    world.tools = ["one", "two"];
    world.connections[0]?.options.events.onNotification("notifications/tools/list_changed", {});
    await world.clock.advance(10_000);
    expect(world.connections).toHaveLength(1);
    await instance.acquire(never);
    await settle();
    expect(toolsOf(world)).toEqual(["one", "two"]);
  });

  test("FAULT 86: a start that is given up is over before the next one begins", async () => {
    const world = createFakeWorld();
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const opened: string[] = [];
    const open: typeof world.deps.open = async (...wanted) => {
      opened.push("open");
      if (opened.length > 1) return await world.deps.open(...wanted);
      // As a process is ended in the middle of its handshake: it takes a while.
      await new Promise((resolve) => wanted[3].addEventListener("abort", resolve));
      await ended;
      throw wanted[3].reason;
    };
    const instance = createInstance({ id, server: fakeServer(), owner: null, missing: [] }, { ...world.deps, open });
    instance.adopt(undefined);
    await settle();
    const restarted = instance.restart(never);
    await settle();
    expect(opened).toHaveLength(1);
    end();
    await restarted;
    expect(opened).toHaveLength(2);
  });
});
