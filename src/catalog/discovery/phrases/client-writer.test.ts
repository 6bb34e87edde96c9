import { expect, test } from "vitest";
import { sampleCatalog } from "../../../../test/sample-catalog.ts";
import type { Answer } from "../../../kernel/call/call-context.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import { createClientWriter, type SamplingClients } from "./client-writer.ts";
import { NobodyToAsk, UnusableAnswer } from "./phrase-writer.ts";

const tool = sampleCatalog()[0]?.tools[0] as ToolEntry;
const never = new AbortController().signal;

function clientsThat(answer: () => Promise<Answer>): SamplingClients & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    isReady: () => true,
    onReady: () => () => undefined,
    async ask(params) {
      asked.push(JSON.parse(params.toString("utf8")));
      return await answer();
    },
  };
}

const result = (content: unknown) => async (): Promise<Answer> => ({
  kind: "result",
  result: Buffer.from(JSON.stringify({ role: "assistant", model: "m", content })),
});
const text = (content: string) => ({ type: "text", text: content });

test("the model is told of one tool, and of nothing that the client knows beside it", async () => {
  const clients = clientsThat(result(text('["it crashed", "open a ticket", "report it"]')));
  const { phrases, spent } = await createClientWriter(clients).write(tool, never);
  expect(phrases).toEqual(["it crashed", "open a ticket", "report it"]);
  expect(spent).toMatchObject({ answer: 15, isReported: false });
  const [params] = clients.asked as [{ messages: { content: { text: string } }[] }];
  expect(params).toMatchObject({ includeContext: "none", maxTokens: 400, messages: [{ role: "user" }] });
  expect(JSON.parse(params.messages[0]?.content.text ?? "")).toMatchObject({ tool: tool.upstreamName });
});

test("several blocks are read as one text; pictures are not read", async () => {
  const blocks = [{ type: "image", data: "" }, text("Sure:"), text('["a", "b"]')];
  expect((await createClientWriter(clientsThat(result(blocks))).write(tool, never)).phrases).toEqual(["a", "b"]);
});

test("phrases are as many and as long as those of any other model", async () => {
  const shouting = JSON.stringify(Array.from({ length: 50 }, () => "word ".repeat(100)));
  const { phrases } = await createClientWriter(clientsThat(result(text(shouting)))).write(tool, never);
  expect(phrases).toHaveLength(3);
  for (const phrase of phrases) expect(phrase.length).toBeLessThanOrEqual(100);
});

test.each([
  ["no text", { type: "image", data: "" }],
  ["nothing", undefined],
  ["no phrases", text("I would rather not")],
  ["too much", text("x".repeat(300_000))],
])("an answer with %s is of no use", async (_what, content) => {
  await expect(createClientWriter(clientsThat(result(content))).write(tool, never)).rejects.toThrow(UnusableAnswer);
});

test("a refusal, and a client that is not there, are nobody to ask rather than a failure", async () => {
  const refusing = clientsThat(async () => ({ kind: "error", error: Buffer.from('{"code":-1,"message":"no"}') }));
  await expect(createClientWriter(refusing).write(tool, never)).rejects.toThrow(NobodyToAsk);
  const gone = clientsThat(async () => await Promise.reject(new Error("gone")));
  await expect(createClientWriter(gone).write(tool, never)).rejects.toThrow(NobodyToAsk);
});
