import { beforeEach, describe, expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import type { Found } from "../../catalog/exposure/discover/discover-text.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import type { View } from "../../catalog/model/view.ts";
import { noArguments, type CallContext } from "../../kernel/call/call-context.ts";
import type { GatewayEvent } from "../../kernel/events/event.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import type { ServerAnswer } from "../calls/server-call.ts";
import { createPerformer, type PerformDeps, type Performer } from "./perform.ts";

const [tool] = sampleInstance("srv", [{ name: "run" }]).tools;
if (tool === undefined) throw new Error("the sample has no tool");
const call: Extract<Intent, { kind: "call" }> = {
  kind: "call",
  instance: "srv" as InstanceId,
  tool,
  arguments: noArguments,
  warning: undefined,
};
const contextOf = (signal = new AbortController().signal): CallContext => ({
  principal: localPrincipal,
  signal,
  client: { era: "legacy", revision: "2025-11-25", capabilities: {} },
  via: "http",
  waitedMs: 0,
});
const view = { servers: [] } as unknown as View;
const resultOf = (result: object): ServerAnswer => ({
  kind: "result",
  result: new ResultBytes(Buffer.from(JSON.stringify(result)), result as never),
});

let events: GatewayEvent[];
let learned: string[];
let passed: string[];

/** A performer with a server that answers in the given way. */
function performing(
  answer: () => Promise<ServerAnswer>,
  options: { readonly deny?: readonly string[]; readonly search?: () => Promise<unknown> } & Partial<PerformDeps> = {},
): Performer {
  const { deny = [], search, ...more } = options;
  return createPerformer({
    routing: {
      callTool: () => {
        passed.push("run");
        return answer();
      },
    } as unknown as PerformDeps["routing"],
    discovery: {
      toolsOf: (server) => server.tools,
      noteCall: (_principal, noted) => void learned.push(noted.path),
      search: search as never,
      meant: async () => new Set(),
    },
    loads: { load: async () => await Promise.reject(new Error("not expected")) },
    viewOf: () => view,
    asks: () => false,
    policy: () => ({ ask: [], rules: [] }),
    settled: async () => undefined,
    keptResults: { read: async () => undefined },
    slices,
    instanceOf: () => ({ server: { tools: { allow: undefined, deny } } }) as never,
    events: { emit: (event) => void events.push(event) },
    clock: { now: () => 0, monotonic: () => 0 },
    ...more,
  });
}

beforeEach(() => {
  events = [];
  learned = [];
  passed = [];
});

describe("the stages", () => {
  const noting = (name: string) => () => {
    passed.push(name);
    return undefined;
  };

  test("are passed in their order, and the record ends after the budget", async () => {
    const { perform } = performing(async () => resultOf({ content: [] }), {
      approval: async () => {
        await Promise.resolve();
        passed.push("approval");
      },
      recordStart: noting("record-start"),
      resultBudget: async () => {
        passed.push("result-budget");
        return await Promise.resolve(resultOf({ content: [], isError: true }));
      },
    });
    await perform(call, { context: contextOf(), view });
    expect(passed).toEqual(["approval", "record-start", "run", "result-budget"]);
    expect(events).toMatchObject([{ type: "mcp.request.logs", outcome: "tool_error" }]);
  });

  test("that refuse end the way: nothing after them happens, but the record says why", async () => {
    const refused = performing(async () => resultOf({ content: [] }), { deny: ["run"], approval: noting("approval") });
    await expect(refused.perform(call, { context: contextOf(), view })).rejects.toMatchObject({
      code: "POLICY_DENIED",
    });
    const said = performing(async () => resultOf({ content: [] }), {
      approval: async () => await Promise.reject(new GatewayError("CALL_CANCELLED", "a person said no")),
      recordStart: noting("record-start"),
    });
    await expect(said.perform(call, { context: contextOf(), view })).rejects.toMatchObject({ code: "CALL_CANCELLED" });
    expect(passed).toEqual([]);
    expect(events).toMatchObject([{ outcome: "POLICY_DENIED" }, { outcome: "CALL_CANCELLED" }]);
    expect([refused.inFlight, said.inFlight]).toEqual([0, 0]);
  });

  test("that refuse for a rule of the configuration tell the audit, others do not", async () => {
    const denied: string[] = [];
    const onDenied: PerformDeps["onDenied"] = ({ principal, path }) => denied.push(`${principal} ${path}`);
    const answer = async () => resultOf({ content: [], isError: true });
    await performing(answer, { onDenied }).perform(call, { context: contextOf(), view });
    expect(denied).toEqual([]);
    const refusing = performing(answer, { onDenied, deny: ["run"] });
    await expect(refusing.perform(call, { context: contextOf(), view })).rejects.toMatchObject({
      code: "POLICY_DENIED",
    });
    expect(denied).toEqual([`local ${tool.path}`]);
  });
});

describe("what the search learns", () => {
  test.each<[string, boolean, () => Promise<ServerAnswer>]>([
    ["a result", true, async () => resultOf({ content: [] })],
    ["a result too large to be parsed", true, async () => largeResult("false")],
    ["a failure of the tool", false, async () => resultOf({ content: [], isError: true })],
    ["a large failure of the tool", false, async () => largeResult("true")],
    ["a question", false, async () => resultOf({ resultType: "input_required" })],
    ["a server's error", false, async () => ({ kind: "error", error: Buffer.from("{}") })],
    ["our failure", false, async () => await Promise.reject(new GatewayError("UPSTREAM_TIMEOUT", "too late"))],
  ])("%s: %s", async (_what, teaches, answer) => {
    await performing(answer)
      .perform(call, { context: contextOf(), view })
      .catch(() => undefined);
    expect(learned).toEqual(teaches ? [tool.path] : []);
  });

  test("nothing of a call that was given up, whatever comes in the end", async () => {
    const given = new AbortController();
    const performer = performing(async () => {
      given.abort();
      return await Promise.resolve(resultOf({ content: [] }));
    });
    await performer.perform(call, { context: contextOf(given.signal), view });
    expect(learned).toEqual([]);
  });
});

const largeResult = (isError: string): ServerAnswer => ({
  kind: "result",
  result: new ResultBytes(Buffer.from(`{"content":[],"isError":${isError}}`)),
});

describe("search.done", () => {
  const discover: Intent = {
    kind: "discover",
    request: { queries: ["x"], grouped: false, limit: 10, server: undefined, readOnly: false, detail: "names" },
  };
  const never = async (): Promise<ServerAnswer> => await Promise.reject(new Error("not expected"));

  test("tells the engine, how much was found, and how long that took", async () => {
    const hit = { tool, distance: 0 };
    const search = async () => ({
      engine: "fuse",
      needs: [{ query: "x", hits: [hit, hit], totalFound: 9, match: "good" }],
      searchTimeMs: 3.000_400_000_7,
      queryCut: false,
    });
    await performing(never, { search }).perform(discover, { context: contextOf(), view });
    expect(events).toEqual([
      {
        ...{ type: "search.done", atMs: 0, principal: "local", client: undefined, first: tool.path },
        ...{ engine: "fuse", results: 2, durationMs: 3 },
      },
    ]);
  });

  test("is not said of a search that failed", async () => {
    const search = async () => await Promise.reject(new GatewayError("SEARCH_FAILED", "the index is broken"));
    const found: Found = (await performing(never, { search }).perform(discover, {
      context: contextOf(),
      view,
    })) as Found;
    expect(found).toMatchObject({ kind: "found", search: undefined, failed: "the index is broken" });
    expect(events).toEqual([]);
  });
});

describe("a strict audit", () => {
  type CallAudit = NonNullable<PerformDeps["callAudit"]>;
  /** Fails where it is told to. */
  function auditing(fails: "begin" | "end" | "never", said: string[]): CallAudit {
    const tell = async (what: "begin" | "end", text: string): Promise<void> => {
      await Promise.resolve();
      if (fails === what) throw new GatewayError("STORE_FULL", `no room for the ${what}`);
      said.push(text);
    };
    return {
      async begin({ path, method }) {
        await tell("begin", `begin ${method} ${path}`);
        return 7;
      },
      end: async (_call, begun, outcome) => await tell("end", `end ${begun} ${outcome}`),
    };
  }

  test.each([
    ["a result", async () => resultOf({ content: [] }), "ok"],
    ["a failed tool", async () => resultOf({ content: [], isError: true }), "tool_error"],
    ["a failure", async () => await Promise.reject(new GatewayError("UPSTREAM_CLOSED", "gone")), "UPSTREAM_CLOSED"],
  ])("has both entries of %s before it is answered", async (_what, answer, outcome) => {
    const said: string[] = [];
    const run = async (): Promise<ServerAnswer> => {
      said.push("run");
      return await answer();
    };
    const performer = performing(run, { callAudit: auditing("never", said) });
    await performer.perform(call, { context: contextOf(), view }).catch(() => undefined);
    expect(said).toEqual([`begin tools/call ${tool.path}`, "run", `end 7 ${outcome}`]);
  });

  test("lets nothing run without the first entry, and no answer leave without the second", async () => {
    const said: string[] = [];
    const run = async (): Promise<ServerAnswer> => {
      said.push("run");
      return await Promise.resolve(resultOf({ content: [] }));
    };
    for (const fails of ["begin", "end"] as const) {
      const performer = performing(run, { callAudit: auditing(fails, said) });
      await expect(performer.perform(call, { context: contextOf(), view })).rejects.toMatchObject({
        message: `no room for the ${fails}`,
      });
      expect(performer.inFlight).toBe(0);
    }
    expect(said).toEqual([`begin tools/call ${tool.path}`, "run"]);
  });
});
