import { describe, expect, test } from "vitest";
import { createEventBus } from "../../kernel/events/event-bus.ts";
import type { GatewayEvent } from "../../kernel/events/event.ts";
import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import { collectEvents } from "./recorded-events.ts";

const about = (instance: string, atMs: number) => ({
  atMs,
  instance: instance as InstanceId,
  server: instance as ServerSlug,
  installation: instance as InstanceId,
  installationName: instance,
  principal: undefined,
  team: undefined,
});
const oddity = (instance: string, atMs: number): GatewayEvent =>
  ({ type: "upstream.oddity", ...about(instance, atMs), kind: "k", detail: "d" }) as GatewayEvent;

function collecting() {
  const bus = createEventBus((error) => {
    throw error;
  });
  const seen: PublishedEvent[] = [];
  return { bus, seen, collected: collectEvents(bus), record: (event: PublishedEvent) => void seen.push(event) };
}

describe("events that are recorded", () => {
  test("wait for what records them, in their order, and then go straight to it", () => {
    const { bus, seen, collected, record } = collecting();
    bus.emit({ type: "gateway.listening", atMs: 1, address: "here" });
    bus.emit(oddity("a", 2));
    expect(seen).toEqual([]);
    collected.open(record);
    bus.emit({ type: "gateway.stopping", atMs: 3, reason: "test" });
    expect(seen.map(({ type }) => type)).toEqual(["gateway.listening", "upstream.oddity", "gateway.stopping"]);
  });

  test("are not those that are recorded as calls and lines", () => {
    const { bus, seen, collected, record } = collecting();
    collected.open(record);
    bus.emit({ type: "mcp.server.logs", ...about("a", 1), level: "stderr", line: "x" } as GatewayEvent);
    bus.emit({ type: "resource.updated", ...about("a", 1), uri: "x:y" } as GatewayEvent);
    expect(seen).toEqual([]);
  });

  test("are few of a flood, and a flood of one server takes no place of another's", () => {
    const { bus, seen, collected, record } = collecting();
    collected.open(record);
    for (let n = 0; n < 1_000; n += 1) bus.emit(oddity("loud", 5_000 + (n % 900)));
    bus.emit(oddity("quiet", 5_950));
    bus.emit(oddity("loud", 6_000));
    expect(seen).toHaveLength(22);
  });

  test("wait in a bounded number, and for nobody once it is over", () => {
    const { bus, seen, collected, record } = collecting();
    for (let n = 0; n < 2_000; n += 1) bus.emit(oddity(`server ${n}`, n));
    collected.open(record);
    expect(seen).toHaveLength(500);
    collected.stop();
    bus.emit(oddity("late", 9_000));
    expect(seen).toHaveLength(500);
  });
});
