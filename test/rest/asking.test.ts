import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { post, run, toEvents, untilOnline } from "../harness/rest.ts";

test("FAULT 49: a REST client can be asked nothing: a legacy server is told so, a modern one's question is an error", async () => {
  const behaviours = "--behaviours=elicit,canary";
  await using gateway = await startGateway({
    config: { mcpServers: { old: badServer(behaviours, "--era=legacy"), new: badServer(behaviours, "--era=modern") } },
  });
  await untilOnline(gateway.url);
  const told = await run(gateway.url, "old:elicit");
  expect([told.status, told.json.success]).toEqual([200, true]);
  expect(JSON.stringify(told.json.result)).toMatch(/-3\d{4}|cannot|not support/i);
  expect((await run(gateway.url, "new:elicit")).json).toMatchObject({ status: 400, code: "CLIENT_CANNOT_ANSWER" });
  for (const name of ["old:canary", "new:canary"]) expect((await run(gateway.url, name)).json.success).toBe(true);
});

describe("a REST client that answers questions", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    const behaviours = "--behaviours=elicit,elicit-url,elicit-twice,elicit-and-take-back,sample";
    gateway = await startGateway({
      config: {
        mcpServers: { old: badServer(behaviours, "--era=legacy"), new: badServer(behaviours, "--era=modern") },
      },
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  /** Calls a tool, answers every question, and resolves to all events. */
  async function converse(tool: string, answer: (question: Asked) => unknown, modes = "form, url") {
    const response = await fetch(`${gateway.url}/execute/${encodeURIComponent(tool)}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        "toolyard-elicitation": modes,
      },
      body: "{}",
    });
    let text = "";
    const answered = new Set<string>();
    const statuses: number[] = [];
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString();
      for (const { event, data } of toEvents(text)) {
        if (event !== "question") continue;
        const question = JSON.parse(data) as Asked;
        if (answered.has(question.id)) continue;
        answered.add(question.id);
        const body = answer(question);
        if (body === undefined) continue;
        statuses.push((await post(`${gateway.url}/api/questions/${question.id}`, body)).status);
      }
    }
    return { events: toEvents(text), statuses, ids: [...answered] };
  }

  test.each(["old", "new"])(
    "is asked in the stream of its call by the %s server, with the server's name",
    async (server) => {
      const { events, statuses, ids } = await converse(
        `${server}:elicit`,
        () => '{ "action": "accept",\n "content": { "name": "Zo\u00eb" } }',
      );
      expect(events.map(({ event }) => event)).toEqual(["question", "question-over", "result"]);
      expect(JSON.parse(events[0]?.data ?? "")).toMatchObject({
        method: "elicitation/create",
        params: { message: `[${server}] What is your name?`, requestedSchema: { type: "object" } },
      });
      expect(statuses).toEqual([200]);
      expect(JSON.stringify(JSON.parse(events.at(-1)?.data ?? ""))).toContain("Zo\u00eb");
      // Nobody waits for a second answer.
      const again = await post(`${gateway.url}/api/questions/${ids[0] ?? ""}`, { action: "decline" });
      expect([again.status, again.json.code]).toEqual([404, "QUESTION_UNKNOWN"]);
    },
  );

  test("is asked as often as the server asks, also to open an address", async () => {
    const twice = await converse("new:elicit-twice", () => ({ action: "accept", content: { name: "x" } }));
    expect(twice.ids.length).toBe(2);
    const urls = await converse("old:elicit-url", () => ({ action: "decline" }));
    expect(JSON.parse(urls.events[0]?.data ?? "").params).toMatchObject({
      mode: "url",
      url: "https://example.com/login",
    });
    expect(urls.events.at(-1)?.data).toContain("decline");
  });

  test("is not asked what it does not answer, and is told when the server takes a question back", async () => {
    const forms = await converse("new:elicit-url", () => undefined, "form");
    expect(forms.events.map(({ event }) => event)).not.toContain("question");
    const models = await converse("new:sample", () => undefined);
    expect(models.events.map(({ event }) => event)).not.toContain("question");
    const taken = await converse("old:elicit-and-take-back", () => undefined);
    const kinds = taken.events.map(({ event }) => event);
    expect(kinds.filter((kind) => kind === "question").length).toBe(
      kinds.filter((kind) => kind === "question-over").length,
    );
    expect(taken.events.at(-1)?.data).toContain("taken back");
  });

  test("FAULT 49: an answer that is none is refused, and the question still waits", async () => {
    const refused: number[] = [];
    const { events } = await converse("old:elicit", ({ id }) => {
      void (async () => {
        for (const wrong of [
          {},
          { action: "maybe" },
          { action: "accept", content: { name: { deep: 1 } } },
          { action: "accept", more: 1 },
        ])
          refused.push((await post(`${gateway.url}/api/questions/${id}`, wrong)).status);
        await post(`${gateway.url}/api/questions/${id}`, { action: "accept", content: { name: "late" } });
      })();
      return undefined;
    });
    expect(refused).toEqual([400, 400, 400, 400]);
    expect(events.at(-1)?.data).toContain("late");
  });
});

interface Asked {
  readonly id: string;
}
