import { expect, test } from "vitest";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import type { LiveReader } from "../../records/events/live-events.ts";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { createResourceLeases, leaseMs } from "./resource-leases.ts";

const principal = (id: string): Principal => ({ ...localPrincipal, id: id as PrincipalId });
const leased = (person: string, uri: string) => ({
  principal: principal(person),
  instance: "files" as InstanceId,
  uri,
});
const never = new AbortController().signal;

function start() {
  const clock = createManualClock();
  const subscribed: string[] = [];
  const readers = new Set<LiveReader>();
  const leases = createResourceLeases({
    clock,
    subscriptions: {
      async subscribe(instance, uri) {
        await Promise.resolve();
        subscribed.push(`${instance} ${uri}`);
        return () => void subscribed.splice(subscribed.indexOf(`${instance} ${uri}`), 1);
      },
    },
    live: async () => ({
      follow(reader) {
        readers.add(reader);
        return { position: "0", leave: () => void readers.delete(reader) };
      },
    }),
  });
  return { clock, subscribed, readers, leases };
}

test("a resource is watched for as long as somebody asks for it again", async () => {
  const { clock, subscribed, readers, leases } = start();
  await leases.renew(leased("ann", "a:1"), never);
  await clock.advance(leaseMs - 1);
  await leases.renew(leased("ann", "a:1"), never);
  await clock.advance(leaseMs - 1);
  expect(subscribed).toEqual(["files a:1"]);
  await clock.advance(1);
  expect([subscribed, readers.size]).toEqual([[], 0]);
});

test("two requests at the same time are one subscription", async () => {
  const { clock, subscribed, leases } = start();
  await Promise.all([leases.renew(leased("ann", "a:1"), never), leases.renew(leased("ann", "a:1"), never)]);
  expect(subscribed).toEqual(["files a:1"]);
  await clock.advance(leaseMs);
  expect(subscribed).toEqual([]);
});

test("whose right ends while the server takes its time gets none, and what fails takes no place", async () => {
  const readers = new Set<LiveReader>();
  const accepted: (() => void)[] = [];
  let released = 0;
  let isBroken = true;
  const leases = createResourceLeases({
    clock: createManualClock(),
    subscriptions: {
      subscribe: async () => await new Promise((resolve) => accepted.push(() => resolve(() => void (released += 1)))),
    },
    live: async () => {
      await Promise.resolve();
      if (isBroken) throw new Error("not yet");
      return {
        follow(reader) {
          readers.add(reader);
          return { position: "0", leave: () => void readers.delete(reader) };
        },
      };
    },
  });
  for (let at = 0; at < 60; at += 1) await expect(leases.renew(leased("ann", "a:1"), never)).rejects.toThrow("not yet");
  isBroken = false;
  const renewing = leases.renew(leased("ann", "a:1"), never);
  await expect.poll(() => accepted.length).toBe(1);
  for (const reader of [...readers]) reader.onEnd();
  accepted[0]?.();
  await renewing;
  expect([readers.size, released]).toEqual([0, 1]);
});

test("it ends with the right to read, and nobody has more than fifty", async () => {
  const { subscribed, readers, leases } = start();
  for (let at = 0; at < 50; at += 1) await leases.renew(leased("ann", `a:${at}`), never);
  await expect(leases.renew(leased("ann", "a:50"), never)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  await leases.renew(leased("bob", "a:50"), never);
  const atOnce = Array.from({ length: 60 }, async (_, at) => await leases.renew(leased("cid", `a:${at}`), never));
  const refused = (await Promise.allSettled(atOnce)).filter(({ status }) => status === "rejected");
  expect(refused.length).toBe(10);
  for (const reader of [...readers]) if (reader.principal.id === "cid") reader.onEnd();
  for (const reader of [...readers]) if (reader.principal.id === "ann") reader.onEnd();
  expect(subscribed).toEqual(["files a:50"]);
});
