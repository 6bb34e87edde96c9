import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { modernRpc, rpc, type RawAnswer } from "../harness/rpc.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { everything } from "../protocol/clients.ts";
import { openSession, type OpenStream, type RawSession } from "../protocol/stream.ts";

const behaviours = "--behaviours=elicit,elicit-url,hang,in-flight,pester,resource-updated,sample,task-status,log";
let team: TeamGateway;
let cast: Cast;

beforeAll(async () => {
  const server = badServer(behaviours, "--tasks", "--resources", "--tool-name", "start-task");
  team = await startTeamGateway({
    shared: { ...server, scope: "shared" },
    own: { ...server, scope: "user" },
  });
  cast = await addCast(team);
  for (const who of ["olga", "bob"] as const)
    for (const name of ["shared", "own"])
      await until(async () => (await call(who, name, "in-flight")).json.result !== undefined);
});
afterAll(async () => await team[Symbol.asyncDispose]());

type Who = "olga" | "bob";
const bearer = (who: Who): Record<string, string> => ({ authorization: `Bearer ${cast[who]}` });
const addressOf = (server: string): string => `${team.gateway.url}/mcp/server/${server}`;

async function call(who: Who, server: string, name: string, args: object = {}): Promise<RawAnswer> {
  return await rpc(addressOf(server), "tools/call", { name, arguments: args }, bearer(who));
}

/** A session of a client that can be asked everything, and the stream on which it hears what belongs to no call. */
async function connect(who: Who, server: string): Promise<RawSession & { readonly heard: OpenStream }> {
  const session = await openSession(addressOf(server), { headers: bearer(who), capabilities: everything });
  return { ...session, heard: await session.listen() };
}

const isAnswer = (message: { id?: unknown }): boolean => message.id === "it";

/** A call that does not end by itself, and is at its server when this resolves. */
async function hang(session: RawSession, server: string): Promise<{ readonly hasHeard: () => Promise<boolean> }> {
  const running = async (): Promise<number> =>
    JSON.parse((await call("olga", server, "in-flight")).json.result.content[0].text as string).inFlight;
  const before = await running();
  // Its answer may have begun without a message: what counts is what was said in it.
  const answer = session.call("it", "tools/call", { name: "hang", arguments: {}, _meta: { progressToken: 1 } });
  await until(async () => (await running()) > before);
  const hasMessages = async (): Promise<boolean> => (await answer).messages.length > 0;
  return { hasHeard: async () => await Promise.race([hasMessages(), setImmediate(false)]) };
}

describe("tasks on a server that members share", () => {
  const sends = { legacy: rpc, modern: modernRpc };
  let taskId: string;

  beforeEach(async () => {
    const made = await rpc(addressOf("shared"), "tools/call", { name: "start-task", task: {} }, bearer("olga"));
    taskId = made.json.result.task.taskId as string;
  });

  test.each(["legacy", "modern"] as const)(
    "FAULT 94: a task that another member began is none, to a %s client",
    async (era) => {
      const send = async (who: Who, url: string, method: string, id: string): Promise<RawAnswer> =>
        await sends[era](
          url,
          method,
          { taskId: id, inputResponses: {} },
          era === "modern" ? {} : bearer(who),
          bearer(who),
        );
      const endpoints = [addressOf("shared"), `${team.gateway.url}/mcp`, `${team.gateway.url}/mcp/flat`];
      for (const url of endpoints)
        for (const method of ["tasks/get", "tasks/result", "tasks/update", "tasks/cancel"]) {
          const [theirs, nobodys] = [
            await send("bob", url, method, taskId),
            await send("bob", url, method, crypto.randomUUID()),
          ];
          expect([url, method, theirs.status, theirs.json.error]).toEqual([
            url,
            method,
            nobodys.status,
            nobodys.json.error,
          ]);
          expect(theirs.json.error).toMatchObject({ code: -32602 });
        }
      for (const url of endpoints) {
        const own = await send("olga", url, "tasks/get", taskId);
        expect([url, own.json.result?.status]).toEqual([url, "working"]);
      }
    },
  );

  test("MUST: a list of tasks has those of whoever asks, and no others [basic/utilities/tasks]", async () => {
    const list = async (who: Who): Promise<readonly string[]> =>
      (await rpc(addressOf("shared"), "tasks/list", {}, bearer(who))).json.result.tasks.map(
        (task: { taskId: string }) => task.taskId,
      );
    const made = await rpc(addressOf("shared"), "tools/call", { name: "start-task", task: {} }, bearer("bob"));
    expect(await list("bob")).toEqual([made.json.result.task.taskId]);
    expect(await list("olga")).toContain(taskId);
    expect(await list("olga")).not.toContain(made.json.result.task.taskId);
  });

  test("how a task stands is told only to the client that began it, also when that is told in the same breath", async () => {
    const [olga, other, bob] = [
      await connect("olga", "shared"),
      await connect("olga", "shared"),
      await connect("bob", "shared"),
    ];
    const begun = await olga.call("it", "tools/call", { name: "start-task", arguments: { reports: true }, task: {} });
    const { taskId: mine } = (await begun.next(isAnswer)).result.task;
    const isOfMine = (message: { method?: string; params?: { taskId?: string } }): boolean =>
      message.method === "notifications/tasks/status" && message.params?.taskId === mine;
    const heardBy = (stream: OpenStream): number => stream.messages.filter(isOfMine).length;
    await until(() => heardBy(olga.heard) === 1);
    await call("bob", "shared", "task-status");
    await until(() => heardBy(olga.heard) === 2);
    // What comes after it has been told to everybody.
    for (const session of [other, bob]) {
      await session.call("it", "resources/subscribe", { uri: "bad://text" });
      await until(async () => {
        await call("olga", "shared", "resource-updated");
        return session.heard.messages.some(({ method }) => method === "notifications/resources/updated");
      });
      expect(session.heard.messages.filter(({ method }) => method === "notifications/tasks/status")).toEqual([]);
    }
    for (const session of [olga, other, bob]) await session.end();
  });
});

test("FAULT 51: what one member's own server says with foreign ids touches no call of another, nor of another server", async () => {
  const sessions = [await connect("olga", "own"), await connect("olga", "shared")];
  const calls = [await hang(sessions[0] as RawSession, "own"), await hang(sessions[1] as RawSession, "shared")];
  const pestered = await call("bob", "own", "pester");
  expect(JSON.stringify(pestered.json.result)).toContain("pestered");
  expect(JSON.stringify((await call("olga", "own", "in-flight")).json.result)).not.toContain("to whoever");
  for (const { hasHeard } of calls) expect(await hasHeard()).toBe(false);
  for (const { heard } of sessions) expect(heard.messages).toEqual([]);
  for (const session of sessions) {
    await session.say({ method: "notifications/cancelled", params: { requestId: "it" } });
    await session.end();
  }
});

test("a question that may belong to either of two members' calls is put to neither", async () => {
  const [olga, bob] = [await connect("olga", "shared"), await connect("bob", "shared")];
  const waiting = await hang(olga, "shared");
  for (const name of ["elicit", "elicit-url", "sample"]) {
    const asking = await bob.call("it", "tools/call", { name, arguments: {} });
    const answer = await asking.next(isAnswer);
    expect(JSON.stringify(answer)).toContain("QUESTION_AMBIGUOUS");
    expect(asking.messages).toEqual([answer]);
  }
  expect(await waiting.hasHeard()).toBe(false);
  for (const { heard } of [olga, bob]) expect(heard.messages.filter(({ id }) => id !== undefined)).toEqual([]);
  await olga.say({ method: "notifications/cancelled", params: { requestId: "it" } });
  for (const session of [olga, bob]) await session.end();
});

test("a resource is reported to whoever subscribed to it at that server, and to nobody for another's of the same address", async () => {
  const sessions = {
    olgas: await connect("olga", "own"),
    bobs: await connect("bob", "own"),
    shared: await connect("bob", "shared"),
    none: await connect("olga", "shared"),
  };
  for (const session of [sessions.olgas, sessions.bobs, sessions.shared])
    await (await session.call("it", "resources/subscribe", { uri: "bad://text" })).next(isAnswer);
  const heard = (): Record<string, number> =>
    Object.fromEntries(
      Object.entries(sessions).map(([name, { heard: stream }]) => [
        name,
        stream.messages.filter(({ method }) => method === "notifications/resources/updated").length,
      ]),
    );
  await call("bob", "own", "resource-updated");
  await until(() => heard()["bobs"] === 1);
  await call("olga", "shared", "resource-updated");
  await until(() => heard()["shared"] === 1);
  expect(heard()).toEqual({ olgas: 0, bobs: 1, shared: 1, none: 0 });
  for (const session of Object.values(sessions)) await session.end();
});
