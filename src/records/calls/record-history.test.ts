import { describe, expect, test } from "vitest";
import type { CallQuery, CallRow, LogQuery, RecordStore } from "../../store/record-store.ts";
import type { RequestRecord } from "../../store/record-rows.ts";
import { createRecordHistory, type Reader } from "./record-history.ts";

const alice: Reader = { id: "alice", calls: "own", contents: "own", logs: "own" };
const admin: Reader = { ...alice, id: "root", calls: "all" };
const owner: Reader = { id: "local", calls: "all", contents: "all", logs: "all" };

const body = { arguments: '{"a":1}', areArgumentsCut: false, result: "{}", isResultCut: false };
const kept: RequestRecord = {
  id: 7,
  atMs: 1,
  team: null,
  principal: "alice",
  client: null,
  instance: "one",
  server: "one",
  via: "rest",
  method: "tools/call",
  name: "one:echo",
  outcome: "ok",
  code: null,
  durationMs: 1,
  waitMs: 0,
  argumentTokens: 1,
  resultTokens: 1,
  isResultCut: false,
  traceId: null,
  message: null,
  node: null,
  serverNode: null,
  body,
};

/** A history over a store that notes what it is asked for. */
function historyWith(
  found: { readonly call?: RequestRecord; readonly calls?: readonly CallRow[]; readonly onErase?: () => void } = {},
) {
  const asked: { calls: CallQuery[]; logs: LogQuery[]; flushes: number } = { calls: [], logs: [], flushes: 0 };
  const store: Pick<RecordStore, "calls" | "call" | "eraseCalls" | "logs" | "flush"> = {
    flush: async () => void (asked.flushes += 1),
    eraseCalls: async (query) => {
      found.onErase?.();
      asked.calls.push(query);
      return { erased: 2, next: query.before === undefined ? 7 : null };
    },
    calls: async (query) => {
      asked.calls.push(query);
      return { rows: found.calls ?? [], next: null };
    },
    call: async () => found.call && { ...found.call, installation: found.call.instance },
    logs: async (query) => {
      asked.logs.push(query);
      return { rows: [], next: null };
    },
  };
  const history = createRecordHistory({
    source: { isOn: true, store: () => store as RecordStore, problems: () => [], dropped: 0 },
    instancesOf: (principal) => ["shared", `own-of-${principal}`],
    isInstance: (id) => id === "shared" || id.startsWith("own-of-"),
  });
  return { history, asked };
}

describe("calls", () => {
  test("are one's own, whoever's are asked for", async () => {
    const { history, asked } = historyWith();
    await history.calls(alice, { limit: 5, server: "one" });
    await history.calls(alice, { limit: 5, principal: "alice" });
    expect(asked.calls.map(({ principal }) => principal)).toEqual(["alice", "alice"]);
    await expect(history.calls(alice, { limit: 5, principal: "bob" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(history.calls(alice, { limit: 5, principal: "nobody" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(asked.calls).toHaveLength(2);
  });

  test("are everybody's for an admin, who may ask for one person's", async () => {
    const { history, asked } = historyWith();
    await history.calls(admin, { limit: 5 });
    await history.calls(admin, { limit: 5, principal: "bob" });
    expect(asked.calls.map(({ principal }) => principal)).toEqual([undefined, "bob"]);
  });

  test("are erased by those who run the team or the gateway, within what they see, until they leave", async () => {
    const { history, asked } = historyWith();
    const never = new AbortController().signal;
    /** How many were erased. */
    const erase = async (reader: Reader, query: Omit<CallQuery, "limit">, signal = never): Promise<number> => {
      let erased = 0;
      await history.erase(reader, query, { signal, onErased: (count) => (erased += count) });
      return erased;
    };
    await expect(erase(alice, { server: "one" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    const tom = { ...alice, calls: "team", team: { slug: "red", sinceMs: 50 } } as const;
    expect(await erase(tom, { team: "blue" })).toBe(0);
    expect(asked.calls).toEqual([]);
    expect(await erase(tom, { fromMs: 10 })).toBe(4);
    expect(asked.calls.map(({ team, fromMs, before }) => [team, fromMs, before])).toEqual([
      ["red", 50, undefined],
      ["red", 50, 7],
    ]);
    expect(await erase(admin, { team: "blue" }, AbortSignal.abort())).toBe(0);
    expect(asked.calls).toHaveLength(2);
  });

  test("that were erased before a failure are told of", async () => {
    let pieces = 0;
    const { history } = historyWith({
      onErase() {
        pieces += 1;
        if (pieces === 2) throw new Error("the disk is full");
      },
    });
    const told: number[] = [];
    const erasing = { signal: new AbortController().signal, onErased: (count: number) => void told.push(count) };
    await expect(history.erase(admin, { server: "one" }, erasing)).rejects.toThrow("the disk is full");
    expect(told).toEqual([2]);
  });

  test("of just now are waited for, older pages are not", async () => {
    const { history, asked } = historyWith();
    await history.calls(alice, { limit: 5 });
    expect(asked.flushes).toBe(1);
    await history.calls(alice, { limit: 5, before: 100 });
    expect(asked.flushes).toBe(1);
  });
});

describe("one call", () => {
  test("shows what was said in it to whoever said it, and to the owner of the data directory", async () => {
    const { history } = historyWith({ call: kept });
    expect(await history.call(alice, 7)).toMatchObject({ contents: "shown", body, hasBody: true });
    expect(await history.call(owner, 7)).toMatchObject({ contents: "shown", body });
  });

  test("shows an admin that there was one, not what was said", async () => {
    const { history } = historyWith({ call: kept });
    expect(await history.call(admin, 7)).toMatchObject({ contents: "not-yours", body: null, name: "one:echo" });
  });

  test("says so where nothing was kept", async () => {
    const { history } = historyWith({ call: { ...kept, body: null } });
    expect(await history.call(alice, 7)).toMatchObject({ contents: "not-kept", body: null, hasBody: false });
    expect(await history.call(admin, 7)).toMatchObject({ contents: "not-kept" });
  });

  test("of somebody else is refused with the words of one that never was", async () => {
    const bob: Reader = { ...alice, id: "bob" };
    const refusals = await Promise.all(
      [historyWith({ call: kept }), historyWith()].map(
        async ({ history }) => await history.call(bob, 7).catch((error: unknown) => error),
      ),
    );
    expect(refusals).toEqual([refusals[1], refusals[1]]);
    expect(refusals[0]).toMatchObject({ code: "RECORD_UNKNOWN" });
  });
});

describe("logs", () => {
  test("are those of the instances that one may use", async () => {
    const { history, asked } = historyWith();
    await history.logs(alice, { limit: 5 });
    await history.logs(alice, { limit: 5, instance: "shared" });
    expect(asked.logs[0]?.instances).toEqual(["shared", "own-of-alice"]);
    expect(asked.logs[1]).toMatchObject({ instance: "shared", instances: ["shared", "own-of-alice"] });
  });

  test("of another's instance are refused with the words of one that never was", async () => {
    const { history, asked } = historyWith();
    const refusals = await Promise.all(
      ["own-of-bob", "never-was"].map(
        async (instance) => await history.logs(alice, { limit: 5, instance }).catch((error: unknown) => error),
      ),
    );
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]).toMatchObject({ code: "SERVER_UNKNOWN" });
    expect(asked.logs).toEqual([]);
  });

  test("are all of them for the owner, who is told of an instance that never was", async () => {
    const { history, asked } = historyWith();
    await history.logs(owner, { limit: 5 });
    expect(asked.logs[0]?.instances).toBeUndefined();
    expect((await history.logs(owner, { limit: 5, instance: "own-of-bob" })).rows).toEqual([]);
    await expect(history.logs(owner, { limit: 5, instance: "never-was" })).rejects.toMatchObject({
      code: "SERVER_UNKNOWN",
    });
  });
});
