import { expect, test } from "vitest";
import { clientRequest, createLegacyFront } from "../../../../test/harness/legacy-front.ts";
import { settle } from "../../../../test/harness/manual-clock.ts";
import type { ConnectedClient } from "../../../kernel/call/call-context.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { createListenRequests } from "./listen.ts";
import { joinText } from "../answers/result-text.ts";

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/** One gateway, at which clients listen. */
function create() {
  const { deps, endpoint, events, done } = createLegacyFront();
  const listen = createListenRequests({ ...deps, serverInfoText: "{}" });

  /** One request, acknowledged or refused: what its client was sent, and what it does when it goes. */
  async function open(notifications: unknown, connected?: ConnectedClient) {
    const sent: Record<string, any>[] = [];
    const answers: Record<string, any>[] = [];
    let goAway = (): void => undefined;
    const client = { era: "modern" as const, revision: "2026-07-28", capabilities: {} };
    const caller = { principal: localPrincipal, endpoint, client, via: "http" as const, session: undefined, connected };
    listen.open(clientRequest("subscriptions/listen", { notifications }, "s"), caller, (onGone) => {
      goAway = onGone;
      return {
        send: (message) => sent.push(JSON.parse(message) as Record<string, any>) > 0,
        finish: (body) => void answers.push(JSON.parse(`{${joinText(body)}}`) as Record<string, any>),
      };
    });
    await settle();
    return { sent, answers, goAway: () => goAway() };
  }
  return { listen, open, events, done };
}

test("the acknowledgment comes first, and says what the client will hear of", async () => {
  const { open, done } = create();
  const { sent } = await open({
    toolsListChanged: true,
    promptsListChanged: false,
    resourceSubscriptions: ["files|a.txt", "nobody|x", "files|missing"],
  });
  expect(sent).toEqual([
    {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ["files|a.txt"] },
        _meta: { [subscriptionId]: "s" },
      },
    },
  ]);
  expect(done.filter((one) => one.startsWith("subscribe"))).toEqual(["subscribe files a.txt"]);
});

test("it hears of what it asked for, in its own spelling, and of nothing else", async () => {
  const { open, events } = create();
  const { sent } = await open({ toolsListChanged: true, resourceSubscriptions: ["files|a.txt"] });
  const instance = "files" as InstanceId;
  events.emit({ type: "catalog.changed", instance, kinds: ["tools", "prompts"] } as never);
  events.emit({ type: "resource.updated", instance, uri: "a.txt" } as never);
  events.emit({ type: "resource.updated", instance, uri: "b.txt" } as never);
  expect(sent.slice(1)).toMatchObject([
    { method: "notifications/tools/list_changed", params: { _meta: { [subscriptionId]: "s" } } },
    { method: "notifications/resources/updated", params: { uri: "files|a.txt", _meta: { [subscriptionId]: "s" } } },
  ]);
});

test("when the client goes, everything is released", async () => {
  const { listen, open, events, done } = create();
  const { sent, goAway } = await open({ toolsListChanged: true, resourceSubscriptions: ["own|a.txt"] });
  expect(done).toEqual(["enter own of the client", "subscribe own of the client a.txt"]);
  goAway();
  expect(done.slice(2)).toEqual(["release own of the client a.txt", "leave own of the client"]);
  events.emit({ type: "catalog.changed", instance: "files" as InstanceId, kinds: ["tools"] } as never);
  expect([sent.length, listen.size]).toEqual([1, 0]);
});

test("what ends gets its result, once; what another client asked for goes on", async () => {
  const { listen, open } = create();
  const [one, other] = ["one", "other"].map(
    (id) => ({ id, ended: new AbortController().signal, presence: {} }) as ConnectedClient,
  );
  const [mine, others] = [await open({}, one), await open({}, other)];
  for (let times = 0; times < 2; times += 1) listen.endWhere((_principal, client) => client === one);
  expect(mine.answers).toMatchObject([{ result: { resultType: "complete", _meta: { [subscriptionId]: "s" } } }]);
  expect([others.answers.length, listen.size]).toEqual([0, 1]);
  listen.endWhere(({ id }) => id === localPrincipal.id);
  expect([others.answers.length, listen.size]).toEqual([1, 0]);
});

test("one that ends while its servers are asked leaves nothing behind", async () => {
  const { listen, open, done } = create();
  const opening = open({ resourceSubscriptions: ["own|a.txt", "own|b.txt"] });
  listen.endWhere(() => true);
  const { answers } = await opening;
  expect(answers).toHaveLength(1);
  const count = (what: string): number => done.filter((one) => one.startsWith(what)).length;
  expect([count("subscribe"), count("leave")]).toEqual([count("release"), count("enter")]);
});

test("a filter that cannot be read is an error, and nothing is served", async () => {
  const { listen, open } = create();
  const { sent, answers } = await open("everything");
  expect(answers).toMatchObject([{ error: { data: { code: "PARAMS_INVALID" } } }]);
  expect([sent.length, listen.size]).toEqual([0, 0]);
});
