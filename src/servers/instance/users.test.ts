import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { createPresence } from "../../kernel/client-presence.ts";
import { createUsers, mostUsers } from "./users.ts";

function world() {
  const clock = createManualClock();
  const users = createUsers(clock);
  users.processStarted();
  const restart = (reason: string): void => {
    users.processEnded(reason);
    users.processStarted();
  };
  const client = (program = "program") => createPresence(program, clock.monotonic());
  const use = (one: ReturnType<typeof client>): string | undefined => {
    users.note(one);
    return users.takeLoss(one);
  };
  return { clock, users, restart, client, use };
}

test("who used the process before learns once why it is gone; who did not, never", () => {
  const { restart, client, use } = world();
  const [user, stranger] = [client(), client()];
  expect(use(user)).toBeUndefined();
  restart("it crashed");
  expect(use(stranger)).toBeUndefined();
  expect(use(user)).toBe("it crashed");
  expect(use(user)).toBeUndefined();
  restart("again");
  expect(use(stranger)).toBe("again");
});

test("what was not told before the next restart is still told: why it was lost first", () => {
  const { users, restart, client, use } = world();
  const user = client();
  use(user);
  restart("first");
  users.note(user);
  restart("second");
  expect(use(user)).toBe("first");
  expect(use(user)).toBeUndefined();
});

test("of several reasons for one end the first counts, and an unknown one is told as such", () => {
  const { users, client, use } = world();
  const user = client();
  use(user);
  users.processEnded("it was restarted by hand");
  users.processEnded("it crashed");
  users.processStarted();
  expect(use(user)).toBe("it was restarted by hand");
  users.processStarted();
  expect(use(user)).toBe("its process was replaced");
});

test("only those who are connected and used the present process keep it", () => {
  const { users, restart, client, use } = world();
  const [user, other] = [client(), client()];
  expect(users.areConnected).toBe(false);
  use(user);
  expect(users.areConnected).toBe(true);
  restart("it crashed");
  expect(users.areConnected).toBe(false);
  use(other);
  expect(users.areConnected).toBe(true);
  other.state = "lapsed";
  expect(users.areConnected).toBe(false);
  use(user);
  user.state = "gone";
  expect(users.areConnected).toBe(false);
});

test("a lapsed session is continued by one that was opened after it, of the same program, once", async () => {
  const { clock, restart, client, use } = world();
  const [paused, beside] = [client("a"), client("a")];
  use(paused);
  await clock.advance(10);
  paused.state = "lapsed";
  paused.lapsedAtMs = clock.monotonic();
  await clock.advance(10);
  const [other, next, later] = [client("b"), client("a"), client("a")];
  restart("it slept");
  expect(use(beside)).toBeUndefined();
  expect(use(other)).toBeUndefined();
  expect(use(next)).toBe("it slept");
  expect(use(later)).toBeUndefined();
});

test("no more are remembered than the limit: those who are gone leave first, then who was away for longest", async () => {
  const { clock, restart, client, use } = world();
  const all = Array.from({ length: mostUsers }, () => client());
  for (const user of all) {
    await clock.advance(1);
    use(user);
  }
  const [first, second, third] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
  use(first);
  third.state = "gone";
  use(client());
  use(client());
  restart("it crashed");
  expect(use(first)).toBe("it crashed");
  expect(use(second)).toBeUndefined();
  expect(use(all.at(-1) ?? first)).toBe("it crashed");
}, 30_000);
