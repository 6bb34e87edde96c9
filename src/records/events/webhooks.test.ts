import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createManualClock, settle } from "../../../test/harness/manual-clock.ts";
import { until } from "../../../test/harness/until.ts";
import { startWebhookReceiver, webhookSecret, type WebhookReceiver } from "../../../test/records/webhook-receiver.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

const receivers: WebhookReceiver[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver[Symbol.asyncDispose]();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function receive(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver();
  receivers.push(receiver);
  return receiver;
}

interface World {
  readonly webhooks: Webhooks;
  readonly clock: ReturnType<typeof createManualClock>;
  readonly logged: string[];
  send(count: number, from?: number): void;
}

function createWorld(): World {
  const clock = createManualClock();
  const logged: string[] = [];
  const write = (_fields: object, message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const toJson = (event: PublishedEvent): string => JSON.stringify({ type: event.type, data: { number: event.atMs } });
  const webhooks = createWebhooks({ clock, log, toJson, version: "1" });
  return {
    webhooks,
    clock,
    logged,
    send(count, from = 0) {
      for (let number = from; number < from + count; number += 1)
        webhooks.take({ type: "gateway.stopping", atMs: number, reason: "test" });
    },
  };
}

const numbersOf = (events: readonly { readonly data: unknown }[]): number[] =>
  events.map(({ data }) => (data as { number: number }).number);
const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index);
const hookAt = (url: string, types?: readonly string[]) => ({ url, secret: webhookSecret, types });
const here = ["127.0.0.1"];

/** Moves the clock until the condition holds: what is sent over real sockets takes its own time. */
async function advanceUntil({ clock }: World, stepMs: number, condition: () => boolean): Promise<void> {
  await until(async () => {
    await clock.advance(stepMs);
    return condition();
  });
}

test("twenty events go at once, fewer after three seconds, in their order and signed", async () => {
  const receiver = await receive();
  const world = createWorld();
  world.webhooks.follow([hookAt(receiver.url)], here);
  world.send(20);
  await until(() => receiver.events.length === 20);
  world.send(2, 20);
  await world.clock.advance(2_999);
  expect(receiver.deliveries).toHaveLength(1);
  await world.clock.advance(1);
  await until(() => receiver.events.length === 22);
  expect(numbersOf(receiver.events)).toEqual(upTo(22));
  const [first] = receiver.deliveries;
  expect(first?.headers).toMatchObject({
    "content-type": "application/json",
    "toolyard-delivery": first?.id,
    "user-agent": "toolyard/1",
    "toolyard-signature": expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
  });
});

test("only the types that are wanted are sent", async () => {
  const receiver = await receive();
  const world = createWorld();
  world.webhooks.follow([hookAt(receiver.url, ["config.*"])], here);
  world.send(30);
  world.webhooks.take({ type: "config.refused", atMs: 7, file: "f", reason: "r" });
  await advanceUntil(world, 3_000, () => receiver.events.length > 0);
  expect(receiver.events.map(({ type }) => type)).toEqual(["config.refused"]);
});

test("a receiver that fails is tried again with the same id, later each time, and gets everything when it recovers", async () => {
  const receiver = await receive();
  receiver.misbehave = (response) => response.writeHead(500).end();
  const world = createWorld();
  world.webhooks.follow([hookAt(receiver.url)], here);
  world.send(20);
  await until(() => receiver.deliveries.length === 1);
  await settle();
  await world.clock.advance(999);
  expect(receiver.deliveries).toHaveLength(1);
  await advanceUntil(world, 1, () => receiver.deliveries.length === 2);
  world.send(5, 20);
  receiver.misbehave = undefined;
  await advanceUntil(world, 1_000, () => receiver.events.length === 25);
  expect(new Set(receiver.deliveries.slice(0, 3).map(({ id }) => id)).size).toBe(1);
  expect(numbersOf(receiver.events)).toEqual(upTo(25));
  expect(world.logged.filter((line) => line.includes("cannot be sent"))).toHaveLength(1);
  expect(world.logged.at(-1)).toContain("takes events again");
});

test("after seven attempts a batch is dropped, and the next one says how many are missing", async () => {
  const receiver = await receive();
  receiver.misbehave = (response) => response.destroy();
  const world = createWorld();
  world.webhooks.follow([hookAt(receiver.url)], here);
  world.send(20);
  await advanceUntil(world, 500, () => world.logged.some((line) => line.includes("dropped")));
  expect(receiver.deliveries).toHaveLength(7);
  receiver.misbehave = undefined;
  world.send(3, 20);
  await advanceUntil(world, 1_000, () => receiver.events.length === 3);
  expect(receiver.deliveries.at(-1)?.dropped).toBe(20);
});

test("what waits is bounded: of too much the oldest go, and are counted", async () => {
  const receiver = await receive();
  receiver.misbehave = (response) => response.writeHead(503).end();
  const world = createWorld();
  world.webhooks.follow([hookAt(receiver.url)], here);
  world.send(5_020);
  await until(() => receiver.deliveries.length === 1);
  receiver.misbehave = undefined;
  await advanceUntil(world, 1_000, () => receiver.events.length >= 1_020);
  expect(receiver.events).toHaveLength(1_020);
  expect(numbersOf(receiver.events).slice(20)).toEqual(upTo(1_000, 4_020));
  expect(receiver.deliveries.reduce((sum, { dropped }, index) => sum + (index === 0 ? 0 : dropped), 0)).toBe(4_000);
});

test("a slow receiver holds nobody else up", async () => {
  const [slow, quick] = [await receive(), await receive()];
  slow.misbehave = () => undefined;
  const world = createWorld();
  world.webhooks.follow([hookAt(slow.url), hookAt(quick.url)], here);
  world.send(60);
  await until(() => quick.events.length === 60);
  expect(slow.deliveries).toHaveLength(1);
  await world.webhooks.stop(AbortSignal.abort());
});

test("the end waits for what can still be sent, and gives up when it is told to", async () => {
  const [good, silent] = [await receive(), await receive()];
  silent.misbehave = () => undefined;
  const world = createWorld();
  world.webhooks.follow([hookAt(good.url), hookAt(silent.url)], here);
  world.send(7);
  const enough = new AbortController();
  const stopped = world.webhooks.stop(enough.signal);
  await until(() => good.events.length === 7 && silent.deliveries.length === 1);
  enough.abort();
  await stopped;
  world.send(50, 7);
  await world.clock.advance(10_000);
  expect(good.events).toHaveLength(7);
});

test("a redirect is not followed", async () => {
  const [trap, receiver] = [await receive(), await receive()];
  receiver.misbehave = (response) => response.writeHead(307, { Location: trap.url }).end();
  const world = createWorld();
  world.webhooks.follow([hookAt(receiver.url)], here);
  world.send(20);
  await advanceUntil(world, 500, () => receiver.deliveries.length >= 3);
  expect(trap.deliveries).toEqual([]);
  await world.webhooks.stop(AbortSignal.abort());
});

test("a changed list keeps what waits for a receiver that stays, and drops that of one that goes", async () => {
  const [staying, going] = [await receive(), await receive()];
  const world = createWorld();
  world.webhooks.follow([hookAt(staying.url), hookAt(going.url)], here);
  world.send(3);
  world.webhooks.follow([hookAt(staying.url)], here);
  await advanceUntil(world, 1_000, () => staying.events.length === 3);
  expect(going.deliveries).toEqual([]);
});

const ways = (port: number): string[] => [
  `http://127.0.0.1:${port}/`,
  `http://localhost:${port}/`,
  `http://localhost.:${port}/`,
  `http://0x7f.1:${port}/`,
  `http://2130706433:${port}/`,
  `http://0.0.0.0:${port}/`,
  `http://[::1]:${port}/`,
  `http://[::ffff:7f00:1]:${port}/`,
  `https://127.0.0.1:${port}/`,
  `https://localhost:${port}/`,
  "http://169.254.169.254/latest/meta-data",
  "http://[::ffff:a9fe:a9fe]/latest/meta-data",
];

test("FAULT 104: no webhook reaches this machine or its network by any spelling, unless the address is listed", async () => {
  let connections = 0;
  const trap = createServer((_request, response) => response.end());
  servers.push(trap);
  trap.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => trap.listen(0, "::", resolve));
  const { port } = trap.address() as AddressInfo;
  const world = createWorld();
  world.webhooks.follow(
    ways(port).map((url) => hookAt(url)),
    ["10.0.0.0/8"],
  );
  world.send(20);
  await advanceUntil(
    world,
    100,
    () => world.logged.filter((line) => line.includes("cannot be sent")).length === ways(port).length,
  );
  expect(connections).toBe(0);
  await world.webhooks.stop(AbortSignal.abort());

  const allowed = createWorld();
  allowed.webhooks.follow([hookAt(`http://localhost:${port}/`)], ["127.0.0.0/8", "::1"]);
  allowed.send(20);
  await until(() => connections > 0);
  await allowed.webhooks.stop(AbortSignal.abort());
});
