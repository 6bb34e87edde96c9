import { describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { as } from "../harness/known-people.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { get, post, toEvents } from "../harness/rest.ts";
import { modernRpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { modernStream } from "../protocol/stream.ts";
import { useThreeNodes } from "./held-nodes.ts";

const capabilities = { elicitation: {} };
const accepted = { action: "accept", content: { ok: true } };

interface Asked {
  readonly requestState: string;
  readonly inputRequests: Readonly<Record<string, object>>;
}

describe.skipIf(hasNoPostgres)("a question of a call that was made at one node", () => {
  const nodes = useThreeNodes();
  const { at } = nodes;

  const surveyOf = (id: string, rounds = 1, bytes = 10) => ({
    name: "effects-survey",
    arguments: { rounds, bytes, id },
  });

  async function call(node: RunningGateway, who: string, params: Record<string, unknown>): Promise<RawAnswer> {
    return await modernRpc(`${node.url}/mcp/flat`, "tools/call", params, capabilities, as(who));
  }

  const answered = (asked: Asked) => ({
    requestState: asked.requestState,
    inputResponses: Object.fromEntries(Object.keys(asked.inputRequests).map((key) => [key, accepted])),
  });

  async function ask(node: RunningGateway, params: Record<string, unknown>): Promise<Asked> {
    const { json } = await call(node, "alice", params);
    expect(json.result).toMatchObject({ resultType: "input_required" });
    return json.result as Asked;
  }

  test("is answered at the others, round for round, and the call is recorded once", async () => {
    const params = surveyOf("rounds", 5);
    let asked = await ask(at(0), params);
    expect(asked.requestState).toMatch(/^typ2\.one\.[\w-]{32}$/);
    for (let turn = 1; turn < 5; turn += 1) {
      const { json } = await call(at(turn), "alice", { ...params, ...answered(asked) });
      expect(json.result).toMatchObject({ resultType: "input_required" });
      asked = json.result as Asked;
    }
    const { json } = await call(at(5), "alice", { ...params, ...answered(asked) });
    expect(json.result).toMatchObject({ resultType: "complete", content: [{ text: "x".repeat(10) }] });
    expect(await nodes.effects()).toEqual(["rounds"]);
    const recorded = async (): Promise<unknown[]> => {
      const calls = await get(`${at(1).url}/api/calls?limit=500`, as("root"));
      return (calls.json.calls as { readonly name: string }[]).filter(({ name }) => name === "effects:survey");
    };
    await until(async () => (await recorded()).length > 0);
    expect(await recorded()).toHaveLength(1);
  });

  test("what the call says after the answer, and its 8 MB, come where the answer was given", async () => {
    const bytes = 8 * 1024 ** 2;
    const params = { ...surveyOf("large", 1, bytes), _meta: { progressToken: "first", "toolyard/maxTokens": 0 } };
    const asked = await ask(at(0), params);
    const again = { ...params, ...answered(asked), _meta: { ...params._meta, progressToken: "second" } };
    const stream = await modernStream(`${at(1).url}/mcp/flat`, 1, "tools/call", again, capabilities, as("alice"));
    await until(() => stream.ended);
    const [progress, last] = stream.messages;
    expect(progress).toMatchObject({ params: { progressToken: "second", message: "round 1: accept" } });
    expect(last.result.content[0].text).toBe("x".repeat(bytes));
  });

  test("is no other person's to answer, nor one of another request, at any node; it still is theirs", async () => {
    const params = surveyOf("mine");
    const asked = await ask(at(0), params);
    for (const node of nodes.all) {
      const foreign = await call(node, "bob", { ...params, ...answered(asked) });
      expect(foreign.text).toContain("HANDLE_INVALID");
      const other = await call(node, "alice", { ...surveyOf("other"), ...answered(asked) });
      expect(other.text).toContain("HANDLE_INVALID");
    }
    expect((await call(at(2), "alice", { ...params, ...answered(asked) })).json.result.resultType).toBe("complete");
    // At most once, wherever the second answer arrives.
    for (const node of nodes.all)
      expect((await call(node, "alice", { ...params, ...answered(asked) })).text).toContain("HANDLE_INVALID");
    expect((await nodes.effects()).filter((id) => id === "mine" || id === "other")).toEqual(["mine"]);
  });

  test("of a client that leaves after its answer: the call is cancelled at its node", async () => {
    const { arguments: args, name } = surveyOf("left");
    const params = { name, arguments: { ...args, ms: 60_000 } };
    const asked = await ask(at(0), params);
    const again = { ...params, ...answered(asked) };
    const url = `${at(2).url}/mcp/flat`;
    const leaving = modernStream(url, 1, "tools/call", again, capabilities, as("alice"));
    await until(async () => (await nodes.effects()).includes("began left"));
    (await leaving).close();
    await until(async () => (await nodes.effects()).includes("cancelled left"));
  });

  test("over REST: its stream is at one node, and its answer comes to another", async () => {
    const headers = { ...as("alice"), accept: "text/event-stream", "toolyard-elicitation": "form" };
    const body = JSON.stringify(surveyOf("rest").arguments);
    const response = await fetch(`${at(0).url}/execute/effects:survey`, {
      method: "POST",
      ...{ headers: { ...headers, "content-type": "application/json" }, body },
    });
    let text = "";
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString();
      const question = toEvents(text).find(({ event }) => event === "question");
      if (question === undefined || text.includes("question-over")) continue;
      const { id } = JSON.parse(question.data) as { readonly id: string };
      expect(id).toMatch(/^one\.[\w-]{22}$/);
      expect((await post(`${at(1).url}/api/questions/${id}`, accepted, as("bob"))).status).toBe(404);
      expect((await post(`${at(1).url}/api/questions/${id}`, accepted, as("alice"))).status).toBe(200);
      expect((await post(`${at(2).url}/api/questions/${id}`, accepted, as("alice"))).status).toBe(404);
    }
    expect(toEvents(text).map(({ event }) => event)).toEqual(["question", "question-over", "progress", "result"]);
  });

  test("of a node that was killed cannot be answered, and the client is told that nothing is known", async () => {
    const params = surveyOf("lost");
    const asked = await ask(at(0), params);
    await at(0).stop("SIGKILL");
    const refused = await call(at(1), "alice", { ...params, ...answered(asked) });
    expect(refused.text).toContain("OUTCOME_UNKNOWN");
    expect(refused.text).toContain("start it again without requestState");
    expect(await nodes.effects()).not.toContain("lost");
    const begun = await until(async () => {
      const { json } = await call(at(1), "alice", params);
      return json.result?.resultType === "input_required" && (json.result as Asked);
    });
    expect((await call(at(2), "alice", { ...params, ...answered(begun) })).json.result.resultType).toBe("complete");
  });
});
