import type { IncomingMessage } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../../../../test/harness/manual-clock.ts";
import { createEventBus } from "../../../kernel/events/event-bus.ts";
import type { EventOf } from "../../../kernel/events/event.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { localPrincipal, type Principal } from "../../../kernel/principal.ts";
import { createDenials, watchRefusals } from "./denials.ts";

const request = (url: string): IncomingMessage =>
  ({ url, method: "POST", socket: { remoteAddress: "10.0.0.7" } }) as unknown as IncomingMessage;
const refuse = (): never => {
  throw new GatewayError("UNAUTHORIZED", "no such token");
};

describe("refused credentials", () => {
  let clock: ManualClock;
  let tell: (request: IncomingMessage) => void;
  let told: EventOf<"auth.denied">[];
  beforeEach(() => {
    told = [];
    clock = createManualClock();
    const events = createEventBus((error) => {
      throw error;
    });
    events.on(["auth.denied"], (event) => void told.push(event));
    tell = createDenials(events, clock);
  });
  const refused = (times: number): void => {
    for (let time = 0; time < times; time += 1)
      expect(() => watchRefusals(request("/mcp"), refuse, tell)).toThrow("no such token");
  };

  test("are told of with who sent them, but without a query, in which a token may stand", () => {
    expect(() => watchRefusals(request("/i/x/mcp?token=secret"), refuse, tell)).toThrow("no such token");
    expect(told).toEqual([
      { type: "auth.denied", atMs: 0, address: "10.0.0.7", method: "POST", path: "/i/x/mcp", more: 0 },
    ]);
  });

  test("have a path of 200 characters at most", () => {
    expect(() => watchRefusals(request(`/${"x".repeat(5_000)}`), refuse, tell)).toThrow("no such token");
    expect(told[0]?.path).toHaveLength(200);
  });

  test("are told of ten times a second, and the others are counted in the next event", async () => {
    refused(25);
    expect(told).toHaveLength(10);
    await clock.advance(999);
    refused(1);
    expect(told).toHaveLength(10);
    await clock.advance(1);
    refused(2);
    expect(told.map(({ more }) => more)).toEqual([...Array.from({ length: 10 }, () => 0), 16, 0]);
  });

  test("are noticed as well where the check takes time, and the caller still gets the failure", async () => {
    await expect(
      watchRefusals(request("/mcp"), async (): Promise<Principal> => await Promise.resolve().then(refuse), tell),
    ).rejects.toThrow("no such token");
    expect(told).toHaveLength(1);
  });

  test("are not what else goes wrong, or goes well", async () => {
    const busy = (): never => {
      throw new GatewayError("DIRECTORY_UNAVAILABLE", "the directory is away");
    };
    expect(() => watchRefusals(request("/mcp"), busy, tell)).toThrow("the directory is away");
    await expect(
      watchRefusals(request("/mcp"), async () => await Promise.resolve().then(busy), tell),
    ).rejects.toThrow();
    expect(watchRefusals(request("/mcp"), () => localPrincipal, tell)).toBe(localPrincipal);
    expect(await watchRefusals(request("/mcp"), async () => await Promise.resolve(localPrincipal), tell)).toBe(
      localPrincipal,
    );
    expect(told).toEqual([]);
  });
});
