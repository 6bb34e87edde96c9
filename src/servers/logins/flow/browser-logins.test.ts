import { expect, test } from "vitest";
import { createBrowserLogins, type WantedLogin } from "./browser-logins.ts";

const refused = expect.objectContaining({ code: "RATE_LIMITED" }) as Error;

/** Logins at servers that say nothing until they are told to. */
function open() {
  const logins = createBrowserLogins();
  const asking: { readonly fail: (error: Error) => void; readonly answer: () => void }[] = [];
  const begin = async (person: string, browser: string, more: Partial<WantedLogin> = {}): Promise<string> =>
    await logins.begin({
      ...{ instance: "mail", person, browser, redirectUrl: "http://127.0.0.1/callback", mayFinish: () => undefined },
      logIn: async ({ open: show, openCallback }, signal) => {
        await new Promise<void>((answer, fail) => asking.push({ answer, fail }));
        await using callback = await openCallback();
        const state = `state-${asking.length}-${person}-${browser}`;
        const response = callback.response(state, signal);
        show(`http://login.example/?state=${state}`);
        await response;
      },
      ...more,
    });
  return { logins, asking, begin };
}

test("logins count from where they begin, also while their server is still asked how to log in", async () => {
  const { logins, asking, begin } = open();
  const begun = Array.from({ length: 5 }, async () => await begin("bob", "browser"));
  await expect(begin("bob", "browser")).rejects.toThrow(refused);
  expect(asking).toHaveLength(5);
  // One that fails leaves its place, and one that waits for the person keeps it.
  asking[0]?.fail(new Error("no such server"));
  await expect(begun[0]).rejects.toThrow("no such server");
  begun[0] = begin("bob", "browser");
  await expect(begin("bob", "browser")).rejects.toThrow(refused);
  for (const one of asking) one.answer();
  const states = (await Promise.all(begun)).map((url) => new URL(url).searchParams);
  await expect(begin("bob", "browser")).rejects.toThrow(refused);
  expect(await logins.finish(states[0] as URLSearchParams, "browser")).toEqual({
    instance: "mail",
    problem: undefined,
  });
  const next = begin("bob", "browser");
  asking.at(-1)?.answer();
  expect(await next).toContain("http://login.example/");
});

test("FAULT K: whoever is logged in with many browsers leaves places for other people", async () => {
  const { asking, begin } = open();
  const all: Promise<unknown>[] = [];
  for (const browser of ["a", "b", "c"]) for (let at = 0; at < 5; at += 1) all.push(begin("bob", browser));
  await expect(begin("bob", "d")).rejects.toThrow(refused);
  for (let at = 0; all.length < 500; at += 1) all.push(begin(`person ${at % 97}`, `of ${at}`));
  await expect(begin("one more", "browser")).rejects.toThrow(refused);
  for (const one of asking) one.fail(new Error("over"));
  expect((await Promise.allSettled(all)).every(({ status }) => status === "rejected")).toBe(true);
  const last = begin("one more", "browser");
  asking.at(-1)?.answer();
  expect(await last).toContain("http://login.example/");
});
