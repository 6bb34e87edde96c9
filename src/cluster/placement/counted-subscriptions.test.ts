import { expect, test } from "vitest";
import type { Reply, UpstreamRequest } from "../../servers/upstream/connection.ts";
import { countSubscriptions } from "./counted-subscriptions.ts";

const asked = (method: string, uri: string, onSent?: () => void) =>
  ({ method, params: [["uri", Buffer.from(JSON.stringify(uri))]], onSent }) as unknown as UpstreamRequest;

function counting(answer: (request: UpstreamRequest) => Reply = () => ({ kind: "result", result: Buffer.from("{}") })) {
  const sent: string[] = [];
  const request = countSubscriptions(async (one) => {
    sent.push(`${one.method} ${String(one.params[0]?.[1])}`);
    return answer(one);
  });
  return { sent, request };
}

test("the server hears of the end of a subscription from the last node that has it, for each resource", async () => {
  const { sent, request } = counting();
  for (const uri of ["a", "a", "b"]) await request(asked("resources/subscribe", uri));
  let isSent = false;
  const first = await request(asked("resources/unsubscribe", "a", () => (isSent = true)));
  expect([first.kind, isSent]).toEqual(["result", true]);
  expect(sent.filter((line) => line.startsWith("resources/unsubscribe"))).toEqual([]);
  await request(asked("resources/unsubscribe", "a"));
  await request(asked("resources/unsubscribe", "b"));
  await request(asked("resources/unsubscribe", "never"));
  expect(sent.slice(3)).toEqual(["a", "b", "never"].map((uri) => `resources/unsubscribe "${uri}"`));
});

test("a subscription that the server refuses, or that fails, does not count", async () => {
  const answers: (() => Reply)[] = [
    () => ({ kind: "error", error: Buffer.from("{}") }),
    () => {
      throw new Error("closed");
    },
    () => ({ kind: "result", result: Buffer.from("{}") }),
    () => ({ kind: "result", result: Buffer.from("{}") }),
  ];
  const { sent, request } = counting(() => (answers.shift() as () => Reply)());
  await request(asked("resources/subscribe", "a"));
  await expect(request(asked("resources/subscribe", "a"))).rejects.toThrow("closed");
  await request(asked("resources/subscribe", "a"));
  await request(asked("resources/unsubscribe", "a"));
  expect(sent.at(-1)).toBe('resources/unsubscribe "a"');
});
