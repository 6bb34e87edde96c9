import { expect, test } from "vitest";
import { createManualClock } from "../../test/harness/manual-clock.ts";
import { createLoners, mostLoners, type Loner } from "./loners.ts";
import { localPrincipal } from "./principal.ts";

const client = (name?: string): Loner => ({
  principal: localPrincipal,
  client: { era: "modern", revision: "2026-07-28", capabilities: {}, info: { name } },
});

test("requests of one principal and one program are one client", () => {
  const loners = createLoners(createManualClock());
  const one = loners.of(client("one"));
  expect(loners.of(client("one"))).toBe(one);
  expect(loners.of(client("two"))).not.toBe(one);
  expect(loners.of(client())).not.toBe(one);
  const bob = { ...localPrincipal, id: "bob" as never };
  expect(loners.of({ ...client("one"), principal: bob })).not.toBe(one);
});

test("it is connected while at least one of its streams is open", () => {
  const loners = createLoners(createManualClock());
  const one = loners.of(client("one"));
  expect(one.state).toBe("lapsed");
  const [close, closeOther] = [loners.listen(client("one")), loners.listen(client("one"))];
  close();
  expect(one.state).toBe("open");
  closeOther();
  expect(one.state).toBe("lapsed");
});

test("beyond the limit the first that does not listen is forgotten, and comes back as of the same kin", async () => {
  const clock = createManualClock();
  const loners = createLoners(clock);
  const listening = loners.of(client("listening"));
  loners.listen(client("listening"));
  const first = loners.of(client("first"));
  await clock.advance(10);
  for (let index = 0; index < mostLoners - 1; index += 1) loners.of(client(String(index)));
  expect(loners.of(client("listening"))).toBe(listening);
  expect(first.lapsedAtMs).toBe(10);
  const back = loners.of(client("first"));
  expect(back).not.toBe(first);
  expect(back.kin).toBe(first.kin);
});
