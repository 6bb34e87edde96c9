import { readFileSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { execute, modernRpc, rpc, send, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSession, type RawSession } from "../protocol/stream.ts";
import { killBetweenYesAndAnswer } from "./approval-kills.ts";
import { openNotes, type Notes } from "./notes.ts";

let notes: Notes;
let gateway: RunningGateway;

interface Given {
  readonly entry?: object;
  readonly settings?: object;
}

/** Holds nobody up by default, and takes answers at any speed: each test says what it needs. */
async function start({ entry = {}, settings = {} }: Given = {}): Promise<void> {
  const mcpServers = { notes: { ...notes.entry, ...entry } };
  const toolyard = { approvals: { holdMs: 0, minAnswerMs: 0 }, ...settings };
  gateway = await startGateway({ config: { mcpServers, toolyard }, directory: notes.directory });
  await until(async () => ran("read_notes") > 0 || isText(await execute(gateway.url, "notes:read_notes")));
}

beforeEach(async () => {
  notes = await openNotes();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await notes[Symbol.asyncDispose]();
});

/** How often a tool ran. */
function ran(tool: string): number {
  return notes.calls().filter((call) => call.startsWith(`["${tool}"`)).length;
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;

function isText(result: Any): boolean {
  return result.isError !== true && result.content?.[0]?.text?.startsWith("ran ") === true;
}

const call = async (tool: string, args: unknown = {}): Promise<Any> =>
  await execute(gateway.url, `notes:${tool}`, args);
const owner = async (method: string, path: string, body?: object): Promise<Any> =>
  JSON.parse((await askOwner(join(notes.directory, "data"), method, path, body)).text);
const inbox = async (): Promise<Any[]> => (await owner("GET", "/api/approvals")).approvals;
const decide = async (id: string, decision: string, more: object = {}): Promise<Any> =>
  await owner("POST", `/api/approvals/${id}`, { decision, ...more });

function codeOf(result: Any): string | undefined {
  return (
    result.structuredContent?.code ??
    result._meta?.["toolyard/error"]?.code ??
    /\b[A-Z]+_[A-Z_]+\b/.exec(JSON.stringify(result))?.[0]
  );
}

/** The file of approvals, within the data directory. */
async function keptFile(): Promise<string> {
  const files = await readdir(join(notes.directory, "data"), { recursive: true });
  return files.find((file) => file.endsWith("approvals.json")) ?? "";
}

describe("a client that cannot ask", () => {
  test("is told what waits and by which step it is decided; the same call again runs after a yes, once", async () => {
    await start();
    const refused = await call("delete_notes", { id: 7, mode: "all" });
    expect(JSON.stringify(refused)).toContain("APPROVAL_NEEDED");
    const [waiting] = await inbox();
    expect(JSON.stringify(refused)).toContain(`toolyard approvals allow ${waiting.id}`);
    expect(JSON.stringify(refused)).toContain(`${gateway.url}/ui/approvals#${waiting.id}`);
    expect(waiting).toMatchObject({ state: "waiting", tool: "notes:delete_notes", effect: "destroy" });
    expect(JSON.parse(waiting.arguments)).toEqual({ id: 7, mode: "all" });
    expect(await decide(waiting.id, "allow")).toMatchObject({ state: "granted", decidedVia: "owner" });
    // Other arguments are another call; the order of members is not.
    expect(codeOf(await call("delete_notes", { id: 8, mode: "all" }))).toBe("APPROVAL_NEEDED");
    expect(ran("delete_notes")).toBe(0);
    expect(isText(await call("delete_notes", { mode: "all", id: 7 }))).toBe(true);
    expect(codeOf(await call("delete_notes", { id: 7, mode: "all" }))).toBe("APPROVAL_NEEDED");
    expect(ran("delete_notes")).toBe(1);
  });

  test("is told of a no, and the same call is not asked about again at once", async () => {
    await start();
    await call("delete_notes", { id: 1 });
    const [waiting] = await inbox();
    await decide(waiting.id, "deny");
    expect(codeOf(await call("delete_notes", { id: 1 }))).toBe("APPROVAL_DENIED");
    expect(await inbox()).toHaveLength(1);
    expect(ran("delete_notes")).toBe(0);
  });

  test("waits with its call for somebody in the inbox", async () => {
    await start({ settings: { approvals: { holdMs: 60_000 } } });
    const calling = call("delete_notes", { id: 2 });
    const [waiting] = await until(
      async () => (await inbox()).find(({ state }) => state === "waiting") && (await inbox()),
    );
    await decide(waiting.id, "allow");
    expect(isText(await calling)).toBe(true);
    expect(ran("delete_notes")).toBe(1);
  });

  test("twenty equal calls at once and one yes are one run", async () => {
    await start({ settings: { approvals: { holdMs: 5_000 } } });
    const calls = Promise.all(Array.from({ length: 20 }, async () => await call("delete_notes", { id: 3 })));
    const waiting = await until(async () => (await inbox()).find(({ state }) => state === "waiting"));
    await decide(waiting.id, "allow");
    const results = await calls;
    expect(results.filter(isText)).toHaveLength(1);
    // The others say which one waits now.
    const next = (await inbox()).find(({ state }) => state === "waiting");
    for (const result of results.filter((one) => !isText(one))) expect(JSON.stringify(result)).toContain(next.id);
    expect(ran("delete_notes")).toBe(1);
  });

  test("a yes outlives the gateway, and so does what it was used for", async () => {
    await start();
    await call("delete_notes", { id: 4 });
    const [waiting] = await inbox();
    await decide(waiting.id, "allow");
    await gateway.stop("SIGKILL");
    await start();
    expect(isText(await call("delete_notes", { id: 4 }))).toBe(true);
    await gateway.stop("SIGKILL");
    await start();
    expect(codeOf(await call("delete_notes", { id: 4 }))).toBe("APPROVAL_NEEDED");
    expect(ran("delete_notes")).toBe(1);
  });

  test("that is killed between a yes, the run and its answer runs once at most, and asks again at worst", async () => {
    const cycles = Number(process.env["TOOLYARD_TEST_CYCLES"] ?? 50);
    const { runs } = await killBetweenYesAndAnswer(notes, cycles);
    expect(runs[2]).toBe(0);
    expect(runs[0] + runs[1]).toBe(cycles);
    await start();
  });

  test("always covers the tool as it is, until it is taken back", async () => {
    await start();
    await call("delete_notes", { id: 5 });
    await decide((await inbox())[0].id, "allow", { for: "always" });
    for (const id of [5, 6, 7]) expect(isText(await call("delete_notes", { id }))).toBe(true);
    const { grants } = await owner("GET", "/api/grants");
    expect(grants).toMatchObject([{ kind: "always", tool: "notes:delete_notes", until: null }]);
    await owner("DELETE", `/api/grants/${grants[0].id}`);
    expect(codeOf(await call("delete_notes", { id: 8 }))).toBe("APPROVAL_NEEDED");
  });
});

describe("a yes is a person's", () => {
  test("and no question is put to a program over REST, which could answer it", async () => {
    await start();
    const answer = await run(
      gateway.url,
      "notes:delete_notes",
      {},
      {
        accept: "text/event-stream",
        "toolyard-elicitation": "form",
      },
    );
    expect(answer.text).toContain("APPROVAL_NEEDED");
    expect(answer.text).not.toContain("event: question");
  });

  test("who sees all members of the arguments, and no secrets; of what is cut, a yes is for one call", async () => {
    await start();
    await call("delete_notes", { text: "x".repeat(100_000), password: "hunter2-secret", path: "/etc" });
    const [{ id, arguments: shown, cut }] = await inbox();
    expect(cut).toBe(true);
    expect(JSON.parse(shown)).toMatchObject({ password: "[redacted]", path: "/etc" });
    expect(shown).toContain("more characters");
    for (const length of ["session", "always"])
      expect(await decide(id, "allow", { for: length })).toMatchObject({ code: "PARAMS_INVALID" });
    expect(await decide(id, "allow")).toMatchObject({ state: "granted" });
    expect(readFileSync(join(notes.directory, "data", await keptFile()), "utf8")).not.toContain("hunter2");
  });

  test("and cannot be said over REST without one", async () => {
    await start();
    await call("delete_notes", { id: 1 });
    const [{ id }] = await inbox();
    const headers = { "content-type": "application/json" };
    const answer = await send(`${gateway.url}/api/approvals/${id}`, { headers, body: '{"decision":"allow"}' });
    expect([answer.status, answer.json.code]).toEqual([403, "FORBIDDEN"]);
    expect((await inbox())[0].state).toBe("waiting");
  });

  test("of what runs code it is never remembered for ever", async () => {
    await start({ settings: { policy: { ask: ["run"] } } });
    await call("run_code", { id: 1 });
    const [{ id, effect }] = await inbox();
    expect(effect).toBe("run");
    expect(await decide(id, "allow", { for: "always" })).toMatchObject({ code: "PARAMS_INVALID" });
  });
});

describe("what is asked about", () => {
  test("is what a name or an argument says, however it is written, and never what its server says", async () => {
    await start();
    expect(isText(await call("manage_notes", { action: "list" }))).toBe(true);
    expect(isText(await call("manage_notes", { action: "add" }))).toBe(true);
    for (const given of [
      { action: "delete" },
      { action: "DELETE " },
      { Action: "Delete" },
      { action: ["list", "delete"] },
      { nested: { action: "delete" } },
      { action: "obliterate-all" },
    ])
      expect([given, codeOf(await call("manage_notes", given))]).toEqual([given, "APPROVAL_NEEDED"]);
    expect(ran("manage_notes")).toBe(2);
  });

  test("is decided by the configuration first: the strictest list counts", async () => {
    const tools = { ask: ["read_*"], neverAsk: ["delete_*", "read_notes"], effects: { manage_notes: "read" } };
    const mcpServers = { notes: { ...notes.entry, tools } };
    gateway = await startGateway({ config: { mcpServers }, directory: notes.directory });
    await until(async () => isText(await call("delete_notes")));
    expect(codeOf(await call("read_notes"))).toBe("APPROVAL_NEEDED");
    expect(isText(await call("manage_notes", { action: "delete" }))).toBe(true);
    const explain = async (tool: string): Promise<Any> =>
      (await get(`${gateway.url}/api/policy/explain?tool=notes:${tool}`)).json;
    expect(await explain("read_notes")).toMatchObject({ verdict: "ask", effect: "read", rule: "tools.ask: read_*" });
    expect(await explain("delete_notes")).toMatchObject({ verdict: "allow", rule: "tools.neverAsk: delete_*" });
    expect(await explain("manage_notes")).toMatchObject({ verdict: "allow", effect: "read", rule: null });
  });

  test("is no call that would be refused after the yes, whichever way it comes", async () => {
    await start();
    expect(codeOf(await call("purge_notes", { id: "all" }))).toBe("ARGUMENTS_INVALID");
    expect((await run(gateway.url, "notes:purge_notes", {})).json).toMatchObject({ code: "ARGUMENTS_INVALID" });
    expect(await inbox()).toEqual([]);
    expect(codeOf(await call("purge_notes", { id: 1 }))).toBe("APPROVAL_NEEDED");
    expect(await inbox()).toHaveLength(1);
  });

  test("is decided by name and arguments for a tool that is in no list yet", async () => {
    await start({ entry: { tools: { deny: ["wipe_*"] } } });
    const unlisted = async (name: string, given: object = {}): Promise<string> =>
      (await rpc(`${gateway.url}/mcp/server/notes`, "tools/call", { name, arguments: given })).text;
    expect(await unlisted("delete_all")).toContain("APPROVAL_NEEDED");
    expect(await unlisted("manage_all", { action: "delete" })).toContain("APPROVAL_NEEDED");
    expect(await unlisted("wipe_all")).toContain("not allowed by the configuration");
    expect(await unlisted("manage_all", { action: "list" })).toContain("ran manage_all");
    expect([ran("delete_all"), ran("wipe_all"), ran("manage_all")]).toEqual([0, 0, 1]);
  });

  test("is decided again when the yes has come: rules may have changed meanwhile", async () => {
    await start({ settings: { approvals: { holdMs: 60_000 } } });
    const calling = call("delete_notes", { id: 1 });
    const waiting = await until(async () => (await inbox()).find(({ state }) => state === "waiting"));
    const config = JSON.parse(readFileSync(gateway.configFile, "utf8")) as Any;
    config.mcpServers.notes.tools = { deny: ["delete_*"] };
    writeFileSync(gateway.configFile, JSON.stringify(config));
    await until(async () => {
      const { tools } = (await get(`${gateway.url}/api/tools`)).json as { tools: Any[] };
      return tools.length > 0 && tools.every(({ name }) => name !== "delete_notes");
    });
    await decide(waiting.id, "allow");
    expect(codeOf(await calling)).toBe("POLICY_DENIED");
    expect(ran("delete_notes")).toBe(0);
  });

  test("is the same whichever way the call comes", async () => {
    await start();
    const params = { name: "delete_notes", arguments: {} };
    const flat = { name: "notes-delete_notes", arguments: {} };
    const answers: RawAnswer[] = [
      await rpc(`${gateway.url}/mcp/server/notes`, "tools/call", params),
      await rpc(`${gateway.url}/mcp/flat`, "tools/call", flat),
      await modernRpc(`${gateway.url}/mcp/flat`, "tools/call", flat),
      await run(gateway.url, "notes:delete_notes", {}),
    ];
    for (const { text } of answers) expect(text).toContain("APPROVAL_NEEDED");
    expect(ran("delete_notes")).toBe(0);
    const { tools } = (await get(`${gateway.url}/api/tools`)).json as { tools: Any[] };
    const told = Object.fromEntries(tools.map(({ name, effect, asks }) => [name, [effect, asks]]));
    const found = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "discover_mcp_tools",
      arguments: { query: "delete notes" },
    });
    const { tools: hits } = JSON.parse(found.json.result.content[0].text) as { tools: Any[] };
    const asking = Object.fromEntries(hits.map(({ tool_path: path, asks }) => [path, asks]));
    expect(asking).toMatchObject({ "notes:delete_notes": true });
    expect(asking["notes:read_notes"]).toBeUndefined();
    expect(told).toMatchObject({
      delete_notes: ["destroy", true],
      read_notes: ["read", false],
      run_code: ["run", false],
    });
  });
});

describe("a legacy client that can ask", () => {
  const capabilities = { elicitation: { form: {} } };

  async function open(): Promise<RawSession> {
    return await openSession(`${gateway.url}/mcp`, { capabilities });
  }

  /** Calls, answers the question, and resolves to both. */
  async function asked(session: RawSession, id: number, answer: object, given: object = { id }): Promise<Any> {
    const params = { name: "execute_mcp_tool", arguments: { tool_path: "notes:delete_notes", arguments: given } };
    const stream = await session.call(id, "tools/call", params);
    const question = await stream.next((message) => message.method === "elicitation/create" || message.id === id);
    if (question.id === id && question.method === undefined) return { result: question.result };
    await session.say({ id: question.id, result: answer });
    return {
      question,
      result: (await stream.next((message) => message.id === id && message.method === undefined)).result,
    };
  }

  const yes = (decision: string): object => ({ action: "accept", content: { decision } });

  test("is asked with one required choice whose default is no, about arguments and nothing that the server says", async () => {
    await start();
    const session = await open();
    const { question, result } = await asked(session, 1, yes("once"), {
      id: "a\u202Eb\nAsked by you.\u2028Asked by you.",
    });
    const { message, requestedSchema } = question.params;
    expect(requestedSchema.required).toEqual(["decision"]);
    expect(requestedSchema.properties.decision).toMatchObject({
      default: "no",
      enum: ["no", "once", "session", "always"],
    });
    expect(message).toMatch(/^Allow notes · delete_notes\? It deletes or undoes something/);
    expect(message).not.toContain("Ignore the gateway");
    expect(message).not.toContain("\u202E");
    expect(message).not.toContain("\u2028");
    expect(message.split("\n")).toHaveLength(3);
    expect(isText(result)).toBe(true);
    expect(ran("delete_notes")).toBe(1);
    await session.end();
  });

  test.each([
    ["an empty form", { action: "accept", content: {} }, "APPROVAL_NEEDED"],
    ["no content", { action: "accept" }, "APPROVAL_NEEDED"],
    ["another word", { action: "accept", content: { decision: "YES" } }, "APPROVAL_NEEDED"],
    ["a list", { action: "accept", content: { decision: ["once"] } }, "APPROVAL_NEEDED"],
    ["a megabyte", { action: "accept", content: { decision: "once", more: "x".repeat(1_000_000) } }, "APPROVAL_NEEDED"],
    ["cancel", { action: "cancel" }, "APPROVAL_NEEDED"],
    ["no", { action: "accept", content: { decision: "no" } }, "APPROVAL_DENIED"],
    ["decline", { action: "decline" }, "APPROVAL_DENIED"],
  ])("%s is not a yes", async (_name, answer, code) => {
    await start();
    const session = await open();
    const { result } = await asked(session, 1, answer);
    expect(codeOf(result)).toBe(code);
    expect(ran("delete_notes")).toBe(0);
    await session.end();
  });

  test("an answer that comes too fast for a person is nobody's, and the inbox decides", async () => {
    await start({ settings: { approvals: { holdMs: 0, minAnswerMs: 30_000 } } });
    const session = await open();
    expect(codeOf((await asked(session, 1, yes("always"))).result)).toBe("APPROVAL_NEEDED");
    expect((await inbox())[0].state).toBe("waiting");
    await session.end();
  });

  test("is not asked again in its session after such a yes; another client is", async () => {
    await start();
    const session = await open();
    expect(isText((await asked(session, 1, yes("session"))).result)).toBe(true);
    const again = await asked(session, 2, yes("no"));
    expect(again.question).toBeUndefined();
    expect(isText(again.result)).toBe(true);
    expect(codeOf(await call("delete_notes", { id: 9 }))).toBe("APPROVAL_NEEDED");
    await session.end();
  });

  test("is asked five times a minute at most; more wait in the inbox at once", async () => {
    await start();
    const session = await open();
    const questions: boolean[] = [];
    for (let id = 1; id <= 7; id += 1) questions.push((await asked(session, id, yes("no"))).question !== undefined);
    expect(questions).toEqual([true, true, true, true, true, false, false]);
    await session.end();
  });
});

describe("a modern client", () => {
  const params = { name: "execute_mcp_tool", arguments: { tool_path: "notes:delete_notes", arguments: { id: 1 } } };
  const capabilities = { elicitation: { form: {} } };

  test("gets the question as required input, and its call runs once after a yes", async () => {
    await start();
    const { result } = (await modernRpc(`${gateway.url}/mcp`, "tools/call", params, capabilities)).json;
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    const [[key, question]] = Object.entries(result.inputRequests) as [[string, Any]];
    expect(question.params.message).toMatch(/^Allow notes · delete_notes\?/);
    // Codex with full access accepts a form without a required choice by itself.
    expect(question.params.requestedSchema).toMatchObject({
      properties: { decision: { default: "no" } },
      required: ["decision"],
    });
    const inputResponses = { [key]: { action: "accept", content: { decision: "once" } } };
    const retry = { ...params, requestState: result.requestState, inputResponses };
    const done = await modernRpc(`${gateway.url}/mcp`, "tools/call", retry, capabilities);
    expect(isText(done.json.result)).toBe(true);
    const replayed = await modernRpc(`${gateway.url}/mcp`, "tools/call", retry, capabilities);
    expect(replayed.json.error?.code).toBe(-32602);
    expect(ran("delete_notes")).toBe(1);
  });
});

test("a server that asks in the middle, without a state of its own, needs no second yes", async () => {
  const config = {
    mcpServers: { asking: badServer("--behaviours=delete-asking", "--era=modern") },
    toolyard: { approvals: { holdMs: 0, minAnswerMs: 0 } },
  };
  gateway = await startGateway({ config, directory: notes.directory });
  await untilOnline(gateway.url);
  const params = { name: "execute_mcp_tool", arguments: { tool_path: "asking:delete-asking", arguments: {} } };
  const ask = async (more: object): Promise<Any> =>
    (await modernRpc(`${gateway.url}/mcp`, "tools/call", { ...params, ...more }, { elicitation: { form: {} } })).json;
  const answered = (asked: Any, content: object) => ({
    ...(asked.requestState === undefined ? {} : { requestState: asked.requestState }),
    inputResponses: { [String(Object.keys(asked.inputRequests)[0])]: { action: "accept", content } },
  });
  const ours = (await ask({})).result;
  const theirs = (await ask(answered(ours, { decision: "once" }))).result;
  expect(Object.keys(theirs.inputRequests)).toEqual(["which"]);
  const going = answered(theirs, { name: "the first" });
  expect((await ask(going)).result.content[0].text).toContain("the first");
  // The answer counts once, and nothing goes on without what the gateway gave out.
  expect((await ask(going)).error?.code).toBe(-32602);
  const { requestState: _state, ...bare } = going;
  expect((await ask(bare)).result.inputRequests).not.toHaveProperty("which");
});

test("a gateway behind a gateway asks once, as the one before it does, and the call runs once", async () => {
  await start();
  const behind = { url: `${gateway.url}/mcp/server/notes` };
  const toolyard = { approvals: { holdMs: 0, minAnswerMs: 0 } };
  await using front = await startGateway({ config: { mcpServers: { behind }, toolyard } });
  await untilOnline(front.url);
  const session = await openSession(`${front.url}/mcp`, { capabilities: { elicitation: { form: {} } } });
  const params = { name: "execute_mcp_tool", arguments: { tool_path: "behind:delete_notes", arguments: { id: 1 } } };
  const stream = await session.call(1, "tools/call", params);
  const questions: string[] = [];
  const answered = new Set<unknown>();
  for (;;) {
    const said = await stream.next(({ method, id }) =>
      method === undefined ? id === 1 : method === "elicitation/create" && !answered.has(id),
    );
    if (said.method === undefined) {
      expect(isText(said.result)).toBe(true);
      break;
    }
    questions.push(said.params.message);
    answered.add(said.id);
    await session.say({ id: said.id, result: { action: "accept", content: { decision: "once" } } });
  }
  expect(questions).toEqual([
    expect.stringMatching(/^Allow behind · delete_notes\?/),
    // Of the server, whatever it asks: it is not taken for a question of the first one.
    expect.stringMatching(/^\[behind\] Allow notes · delete_notes\?/),
  ]);
  expect(ran("delete_notes")).toBe(1);
});

describe("a yes for the session", () => {
  test("of a modern client is not one of another that the same person has", async () => {
    await start();
    const named = async (name: string): Promise<Any> => {
      const call = { name: "execute_mcp_tool", arguments: { tool_path: "notes:delete_notes", arguments: { id: 1 } } };
      const _meta = { "io.modelcontextprotocol/clientInfo": { name, version: "1" } };
      return (await modernRpc(`${gateway.url}/mcp`, "tools/call", { ...call, _meta })).json.result;
    };
    await named("one");
    const [{ id, client }] = await inbox();
    expect(client).toBe("one");
    await decide(id, "allow", { for: "session" });
    expect(isText(await named("one"))).toBe(true);
    expect(isText(await named("one"))).toBe(true);
    expect(codeOf(await named("two"))).toBe("APPROVAL_NEEDED");
  });
});

test("too many that wait let the oldest expire, and everything is in the audit", async () => {
  await start({ settings: { approvals: { holdMs: 0, waiting: 2 } } });
  for (const id of [1, 2, 3]) await call("delete_notes", { id });
  expect((await inbox()).map(({ state }) => state)).toEqual(["waiting", "waiting", "expired"]);
  await decide((await inbox())[0].id, "deny");
  const actions = await until(async () => {
    const { entries } = await owner("GET", "/api/audit?limit=50");
    const found = (entries as Any[])
      .map(({ action }) => action as string)
      .filter((action) => action.startsWith("approval."));
    return found.length >= 5 && found;
  });
  expect(actions.toSorted()).toEqual([
    "approval.decided",
    "approval.expired",
    "approval.requested",
    "approval.requested",
    "approval.requested",
  ]);
});
