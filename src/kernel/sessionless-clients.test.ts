import { expect, test } from "vitest";
import { createManualClock } from "../../test/harness/manual-clock.ts";
import { createSessionlessClients, mostSessionlessClients, type SessionlessSender } from "./sessionless-clients.ts";
import { localPrincipal } from "./principal.ts";

const client = (name?: string): SessionlessSender => ({
  principal: localPrincipal,
  client: { era: "modern", revision: "2026-07-28", capabilities: {}, info: { name } },
});

test("requests of one principal and one program are one client", () => {
  const sessionlessClients = createSessionlessClients(createManualClock());
  const one = sessionlessClients.of(client("one"));
  expect(sessionlessClients.of(client("one"))).toBe(one);
  expect(sessionlessClients.of(client("two"))).not.toBe(one);
  expect(sessionlessClients.of(client())).not.toBe(one);
  const bob = { ...localPrincipal, id: "bob" as never };
  expect(sessionlessClients.of({ ...client("one"), principal: bob })).not.toBe(one);
});

test("it is connected while at least one of its streams is open", () => {
  const sessionlessClients = createSessionlessClients(createManualClock());
  const one = sessionlessClients.of(client("one"));
  expect(one.state).toBe("lapsed");
  const [close, closeOther] = [sessionlessClients.listen(client("one")), sessionlessClients.listen(client("one"))];
  close();
  expect(one.state).toBe("open");
  closeOther();
  expect(one.state).toBe("lapsed");
});

test("those that are connected now are known by name", () => {
  const sessionlessClients = createSessionlessClients(createManualClock());
  sessionlessClients.of(client("only asks"));
  const close = sessionlessClients.listen(client("one"));
  sessionlessClients.listen(client("one"));
  const closeOther = sessionlessClients.listen(client("other"));
  expect(sessionlessClients.connected()).toEqual(["one", "other"]);
  close();
  closeOther();
  expect(sessionlessClients.connected()).toEqual(["one"]);
});

test("beyond the limit the first that does not listen is forgotten, and comes back as of the same program", async () => {
  const clock = createManualClock();
  const sessionlessClients = createSessionlessClients(clock);
  const listening = sessionlessClients.of(client("listening"));
  sessionlessClients.listen(client("listening"));
  const first = sessionlessClients.of(client("first"));
  await clock.advance(10);
  for (let index = 0; index < mostSessionlessClients - 1; index += 1) sessionlessClients.of(client(String(index)));
  expect(sessionlessClients.of(client("listening"))).toBe(listening);
  expect(first.lapsedAtMs).toBe(10);
  const back = sessionlessClients.of(client("first"));
  expect(back).not.toBe(first);
  expect(back.program).toBe(first.program);
});
