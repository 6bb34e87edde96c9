import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { UsageQuery, UsageSum } from "../../store/record-store.ts";
import type { Services } from "../services.ts";
import type { OperationRequest } from "../operation.ts";
import { usageOperations } from "./usage-operations.ts";

const nowMs = Date.UTC(2026, 10, 22, 12);
const hourMs = 3_600_000;
const sum = (...group: (string | null)[]): UsageSum => ({
  group,
  calls: 3,
  errors: 1,
  durationMsSum: 12.5,
  durationMsMax: 10,
  lastHourMs: 0,
  buckets: [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  argumentTokens: 4,
  resultTokens: 5,
  cut: 0,
});

interface Question {
  readonly query?: Record<string, string>;
  readonly roles?: readonly string[];
  readonly isOpen?: boolean;
  readonly accept?: string;
  readonly sums?: readonly UsageSum[];
}

async function ask({ query = {}, roles = [], isOpen = false, accept, sums = [] }: Question) {
  const asked: UsageQuery[] = [];
  const services = {
    isOpen: () => isOpen,
    people: () => undefined,
    clock: { now: () => nowMs },
    usage: {
      async read(question: UsageQuery) {
        asked.push(question);
        return await Promise.resolve({ sums, sinceMs: null });
      },
    },
  } as unknown as Services;
  const usage = usageOperations.find(({ route }) => route === "GET /api/usage");
  if (usage === undefined || usage.isPublic === true) throw new Error("there is such an operation");
  const principal = { id: "ann" as PrincipalId, team: null, roles, scopes: [], user: null, via: "config" };
  const asking = {
    accept,
    principal,
    query: usage.query?.parse(query) ?? {},
    params: {},
  } as unknown as OperationRequest<Record<string, unknown>, Record<string, unknown>, JsonObject>;
  const told = (await usage.run(services, asking)) as { readonly type?: string; readonly content?: string };
  return { asked: asked[0], type: told.type, text: told.content ?? JSON.stringify(told) };
}

describe("whose usage is shown", () => {
  test("is one's own, and that of others is refused", async () => {
    expect((await ask({})).asked?.principal).toBe("ann");
    expect((await ask({ query: { principal: "ann" } })).asked?.principal).toBe("ann");
    for (const principal of ["bob", ""])
      await expect(ask({ query: { principal } })).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test("is everybody's for an admin, and for the only person of a gateway without credentials", async () => {
    for (const who of [{ roles: ["admin"] }, { isOpen: true }]) {
      expect((await ask(who)).asked?.principal).toBeUndefined();
      expect((await ask({ ...who, query: { principal: "bob" } })).asked?.principal).toBe("bob");
    }
  });
});

describe("the time and the groups", () => {
  test("are a day back from now, or from the end that is named, in one sum", async () => {
    expect((await ask({})).asked).toMatchObject({ fromMs: nowMs - 24 * hourMs, toMs: nowMs, by: [], limit: 1_000 });
    const to = String(nowMs - hourMs);
    expect((await ask({ query: { to } })).asked).toMatchObject({ fromMs: nowMs - 25 * hourMs, toMs: nowMs - hourMs });
  });

  test("keep the order in which groups were named", async () => {
    expect((await ask({ query: { by: "tool,hour,,server," } })).asked?.by).toEqual(["tool", "hour", "server"]);
  });

  test.each([
    ["by", { by: "tool,hour,server,client" }, "names more than three"],
    ["by", { by: "tool,tool" }, "takes, each once: hour, day"],
    ["by", { by: "secret" }, "takes, each once: hour, day"],
    ["from", { from: String(nowMs + 1) }, "is after `to`"],
    ["from", { from: "last 5" }, "neither a time"],
    ["to", { to: "soon" }, "neither a time"],
  ])("are refused with the name of the parameter: %s %j", async (name, query, message) => {
    await expect(ask({ query })).rejects.toMatchObject({
      code: "PARAMS_INVALID",
      message: expect.stringContaining(message),
      data: { field: `querystring.${name}` },
    });
  });
});

describe("the form of the answer", () => {
  const sums = [sum(String(nowMs), '=evil,"x"'), sum(null, null)];
  const query = { by: "hour,client" };

  test.each([
    ["text/csv", undefined, "text/csv"],
    ["application/json, text/csv", undefined, "text/csv"],
    ["text/csv", "json", undefined],
    ["application/json", "csv", "text/csv"],
    ["text/csvx", undefined, undefined],
    [undefined, undefined, undefined],
  ])("for Accept %s and the format %s is %s", async (accept, format, type) => {
    const given = await ask({
      ...(accept === undefined ? {} : { accept }),
      query: format === undefined ? {} : { format },
    });
    expect(given.type).toBe(type);
  });

  test("as JSON names the groups, with times as ISO 8601", async () => {
    const { usage } = JSON.parse((await ask({ query, sums })).text) as { usage: { group: unknown }[] };
    expect(usage.map(({ group }) => group)).toEqual([
      { hour: "2026-11-22T12:00:00.000Z", client: '=evil,"x"' },
      { hour: null, client: null },
    ]);
    expect(usage[0]).toMatchObject({ calls: 3, errors: 1, durationMs: { sum: 12.5, max: 10 }, resultsCut: 0 });
  });

  test("as CSV has as many cells in each row as in its head", async () => {
    const [head = "", first = "", second = ""] = (await ask({ query, sums, accept: "text/csv" })).text.split("\r\n");
    expect(head).toMatch(/^hour,client,calls,errors,.*,results_cut,calls_up_to_5_ms,.*,calls_longer$/);
    expect(first).toBe(`2026-11-22T12:00:00.000Z,"'=evil,""x""",3,1,12.5,10,4,5,0,2,1,0,0,0,0,0,0,0,0,0,0`);
    expect(second.split(",")).toHaveLength(head.split(",").length);
  });
});
