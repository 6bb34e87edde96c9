import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildParts, type GatewayParts } from "../../src/app/gateway-parts.ts";
import { createHttpFront, type HttpFront } from "../../src/app/owner/http-front.ts";
import { openStore } from "../../src/store/files/file-store.ts";
import { buildConfig } from "../../src/config/load.ts";
import type { PersonalValues } from "../../src/config/people/personal.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";
import type { PrincipalId } from "../../src/kernel/ids.ts";
import type { Log } from "../../src/kernel/runtime/log.ts";
import type { Principal } from "../../src/kernel/principal.ts";
import type { Directory } from "../../src/people/directory/directory.ts";
import { badServer } from "../harness/gateway.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { modernRpc, rpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";

const logged: string[] = [];
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: ({ err }) => void logged.push(String(err)),
};
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const initializeParams = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

/**
 * People who are elsewhere until somebody has asked for them, as in a database: every first look-up is answered
 * later.
 */
interface RemotePeople {
  readonly directory: Directory;
  /** How often somebody was asked for. */
  readonly asked: number;
  /** Signals of the look-ups so far. */
  readonly signals: readonly AbortSignal[];
  /** Look-ups wait until this resolves. */
  gate: Promise<void>;
  /** What look-ups fail with, while there is one. */
  failure: Error | undefined;
  /** Forgets who is at hand. */
  forget(): void;
  /** Takes a person away, and says so. */
  remove(id: string): void;
}

function createRemotePeople(tokens: Readonly<Record<string, string>>, values: PersonalValues): RemotePeople {
  const everybody = new Map<string, Principal>();
  const atHand = new Map<string, Principal>();
  const listeners = new Set<() => void>();
  const signals: AbortSignal[] = [];
  for (const [id, token] of Object.entries(tokens))
    everybody.set(hashOf(token), {
      id: id as PrincipalId,
      team: "acme",
      roles: ["member"],
      scopes: [],
      user: null,
      via: "config",
    });
  const findBy = async (
    wanted: (hash: string, principal: Principal) => boolean,
    signal: AbortSignal,
  ): Promise<Principal | undefined> => {
    signals.push(signal);
    await people.gate;
    if (people.failure !== undefined) throw people.failure;
    const [hash, principal] = [...everybody].find((entry) => wanted(...entry)) ?? [];
    if (hash !== undefined && principal !== undefined) atHand.set(hash, principal);
    return principal;
  };
  const people: RemotePeople = {
    directory: {
      open: false,
      byToken: (hash) => atHand.get(hash),
      byId: (id) => [...atHand.values()].find((principal) => principal.id === id),
      elsewhere: {
        byToken: async (wanted, signal) => await findBy((hash) => hash === wanted, signal),
        byId: async (wanted, signal) => await findBy((_hash, { id }) => id === wanted, signal),
      },
      isCurrent: (principal) => [...everybody.values()].includes(principal),
      credentialsOf: (id) => [...atHand].filter(([, principal]) => principal.id === id).map(([hash]) => hash),
      valuesFor: () => values,
      secrets: () => new Set(Object.values(values.user?.env ?? {})),
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    get asked() {
      return signals.length;
    },
    signals,
    gate: Promise.resolve(),
    failure: undefined,
    forget: () => atHand.clear(),
    remove(id) {
      for (const map of [everybody, atHand])
        for (const [hash, principal] of map) if (principal.id === id) map.delete(hash);
      for (const listener of listeners) listener();
    },
  };
  return people;
}

describe("people who have to be asked for", () => {
  let folder: string;
  let people: RemotePeople;
  let gateway: GatewayParts;
  let front: HttpFront;
  let url: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolyard-remote-people-"));
    people = createRemotePeople(
      { alice: "token-of-alice", bob: "token-of-bob" },
      { team: undefined, user: { env: { SECRET: "from-elsewhere" } }, isOnlyUser: false },
    );
    const config = buildConfig(
      {
        file: join(folder, "toolyard.json"),
        text: JSON.stringify({
          mcpServers: {
            all: { ...badServer("--behaviours=canary,echo"), scope: "shared" },
            own: { ...badServer("--behaviours=echo,stderr"), scope: "user", required: { user: ["env.SECRET"] } },
          },
          toolyard: { limits: { concurrentCalls: 1 } },
        }),
      },
      { cwd: folder, env: {}, flags: {}, homeDirectories: { config: folder, data: folder }, cores: 2 },
    );
    gateway = buildParts(config, {
      log,
      clock: systemClock,
      version: "0.0.0",
      environment: process.env,
      dataDir: folder,
      store: openStore({ dataDir: folder, vaultKey: {} }),
      place: folder,
      directory: people.directory,
    });
    front = createHttpFront(gateway);
    url = `http://127.0.0.1:${(await front.listen("127.0.0.1", 0)).port}`;
    await gateway.apply(config);
    gateway.letServersStart();
    await untilOnline(url, bearer("token-of-alice"));
    people.forget();
  });
  afterEach(async () => {
    front.close();
    await gateway.stop(new AbortController().signal);
    await rm(folder, { recursive: true, force: true });
  });

  const legacy = async (headers: Record<string, string>): Promise<RawAnswer> =>
    await rpc(`${url}/mcp/flat`, "tools/list", {}, headers);
  const modern = async (headers: Record<string, string>): Promise<RawAnswer> =>
    await modernRpc(`${url}/mcp/flat`, "tools/list", {}, {}, headers);
  const rest = async (headers: Record<string, string>): Promise<RawAnswer> => await get(`${url}/api/servers`, headers);
  const execute = async (headers: Record<string, string>): Promise<RawAnswer> =>
    await run(url, "all:echo", { a: 1 }, headers);
  const stream = async (headers: Record<string, string>): Promise<RawAnswer> => {
    const opened = await openSse(`${url}/sse/flat`, headers);
    if (opened.status !== 200) return { status: opened.status, headers: opened.headers, text: "", json: undefined };
    await opened.initialize();
    const listed = await opened.call(2, "tools/list");
    opened.close();
    return { status: opened.status, headers: opened.headers, text: JSON.stringify(listed), json: listed };
  };
  const fronts = [
    ["MCP of 2025-11-25", legacy, "echo"],
    ["MCP of 2026-07-28", modern, "echo"],
    ["HTTP+SSE", stream, "echo"],
    ["REST", rest, "own"],
    ["a call over REST", execute, '"a":1'],
  ] as const;

  test.each(fronts)("%s waits for whoever is not at hand, and not for whoever is", async (_name, ask, expected) => {
    const before = people.asked;
    const first = await ask(bearer("token-of-alice"));
    expect([first.status, first.text]).toEqual([200, expect.stringContaining(expected)]);
    expect(people.asked).toBe(before + 1);
    expect((await ask(bearer("token-of-alice"))).status).toBe(200);
    expect(people.asked).toBe(before + 1);
  });

  test.each(fronts)("%s refuses a stranger as ever, and says when nobody can be asked", async (_name, ask) => {
    const stranger = await ask(bearer("token-of-nobody"));
    expect([stranger.status, stranger.headers["www-authenticate"]]).toEqual([
      401,
      expect.stringContaining("resource_metadata="),
    ]);
    people.failure = new Error("the database is away: password=hunter2");
    const failed = await ask(bearer("token-of-bob"));
    expect([failed.status, failed.text]).toEqual([503, expect.not.stringContaining("hunter2")]);
    expect(logged.join()).toContain("hunter2");
  });

  test("the endpoint of one instance waits for the person whose token it is", async () => {
    const made = (await post(`${url}/api/instances/all/token`, {}, bearer("token-of-alice"))).json;
    people.forget();
    const before = people.asked;
    const ask = async (): Promise<RawAnswer> => await rpc(url + made.endpoint, "tools/list", {}, bearer(made.token));
    expect((await ask()).json.result.tools).toHaveLength(2);
    expect((await ask()).status).toBe(200);
    expect(people.asked).toBe(before + 1);
    people.remove("alice");
    expect((await ask()).status).toBe(401);
  });

  test("a body that comes while nobody is known yet arrives whole", async () => {
    let open: () => void = () => undefined;
    people.gate = new Promise((resolve) => {
      open = resolve;
    });
    const text = "x".repeat(1_000_000);
    const before = people.asked;
    const answered = run(url, "all:echo", { text }, bearer("token-of-alice"));
    await until(() => people.asked > before);
    open();
    expect((await answered).text.includes(text)).toBe(true);
  });

  test("a client that leaves while it is looked up ends the look-up, and holds no place among the calls of its person", async () => {
    let open: () => void = () => undefined;
    people.gate = new Promise((resolve) => {
      open = resolve;
    });
    const before = people.asked;
    const left = ["/mcp/flat", "/sse/flat", "/api/servers", "/execute/all%3Aecho"].map((path) => {
      const method = path.startsWith("/sse") || path.startsWith("/api") ? "GET" : "POST";
      const headers = { ...bearer("token-of-bob"), "content-type": "application/json" };
      const request = httpRequest(url + path, { method, headers, agent: false });
      request.on("error", () => undefined);
      request.end(method === "GET" ? undefined : "{}");
      return request;
    });
    await until(() => people.asked === before + left.length);
    for (const request of left) request.destroy();
    await until(() => people.signals.slice(-left.length).every(({ aborted }) => aborted));
    // By their going, not by the time that a look-up may take.
    for (const { reason } of people.signals.slice(-left.length))
      expect(reason).toMatchObject({ code: "CALL_CANCELLED" });
    open();
    // Only one request of a person may run at a time here: a place that was not given back would refuse this one.
    expect((await execute(bearer("token-of-bob"))).status).toBe(200);
    expect(gateway.mcp.parts.sessions.size).toBe(0);
  });

  test("what is a person's own comes from the directory, and ends when it says that the person has gone", async () => {
    const called = await run(url, "own:echo", { a: 1 }, bearer("token-of-bob"));
    expect(called.status).toBe(200);
    const session = await rpc(`${url}/mcp`, "initialize", initializeParams, bearer("token-of-bob"));
    expect(session.headers["mcp-session-id"]).toBeDefined();
    const ofBob = (): boolean => gateway.fleet.all().some(({ owner }) => owner === "bob");
    expect(ofBob()).toBe(true);
    const [running] = gateway.fleet.all().filter(({ owner }) => owner === "bob");
    expect(running?.server.transport).toMatchObject({ env: { SECRET: "from-elsewhere" } });
    // No answer shows it, whatever the server writes.
    await run(url, "own:stderr", { text: "it is from-elsewhere" }, bearer("token-of-bob"));
    const lines = await until(() => (running?.stderr.length ?? 0) > 0 && running?.stderr);
    expect(lines.join()).toMatch(/^it is \S+$/);
    expect(lines.join()).not.toContain("from-elsewhere");
    people.remove("bob");
    await until(() => !ofBob());
    expect(gateway.mcp.parts.sessions.size).toBe(0);
    expect((await legacy(bearer("token-of-bob"))).status).toBe(401);
  });
});
