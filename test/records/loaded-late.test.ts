import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { badServer, startGateway, type GatewayOptions, type RunningGateway } from "../harness/gateway.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { readEvents } from "./event-reader.ts";
import { startWebhookReceiver, webhookSettings } from "./webhook-receiver.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-late-"));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const loaded = (): string[] =>
  ["live-events", "event-json", "webhooks"].filter((name) =>
    new RegExp(`/${name}-\\w+\\.js$`, "m").test(readFileSync(join(folder, "loaded"), "utf8")),
  );

async function start(toolyard: object): Promise<RunningGateway> {
  const recorder = pathToFileURL(join(import.meta.dirname, "../harness/record-modules.mjs")).href;
  const options: GatewayOptions = {
    config: { mcpServers: { bad: badServer("--behaviours=echo") }, toolyard },
    env: { NODE_OPTIONS: `--import ${recorder}`, LOADED_MODULES: join(folder, "loaded") },
  };
  const gateway = await startGateway(options);
  await untilOnline(gateway.url);
  await run(gateway.url, "bad:echo");
  return gateway;
}

test("the live stream is loaded with its first reader, and webhooks not at all without a receiver", async () => {
  await using gateway = await start({});
  expect(loaded()).toEqual([]);
  const reader = await readEvents(`${gateway.url}/api/events`);
  expect(loaded()).toEqual(["live-events", "event-json"]);
  reader.close();
});

test("webhooks are loaded where one is configured, and miss nothing of the start", async () => {
  await using receiver = await startWebhookReceiver();
  await using gateway = await start({ events: webhookSettings(receiver) });
  await until(() => receiver.events.some(({ type }) => type === "gateway.listening"));
  expect(receiver.events.some(({ type }) => type === "config.changed")).toBe(true);
  expect(loaded()).toEqual(["event-json", "webhooks"]);
  expect(gateway.stderr()).not.toContain("webhooks cannot be loaded");
});
