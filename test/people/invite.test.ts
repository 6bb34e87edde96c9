import { afterAll, beforeAll, expect, test } from "vitest";
import { createPageBrowser } from "./page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
beforeAll(async () => {
  world = await startTeamWorld();
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  await world.ask("team", "add", "blue");
  await world.ask("user", "add", "bob", "--team", "blue");
});
afterAll(async () => await world[Symbol.asyncDispose]());

async function invite(...words: string[]): Promise<string> {
  const invited = await world.ask("invite", "new", "--team", "red", ...words);
  return `${world.url}/invite/${invited.secret}`;
}

const membersOf = async (team: string): Promise<readonly { user: string; role: string }[]> =>
  (await world.ask("team", "members", team)).members;

test("the command prints a link, and whoever opens it makes an account that is in the team", async () => {
  const printed = await world.command("invite", "new", "--team", "red", "--role", "admin", "--about", "Dora");
  const link = printed.stdout.trim();
  expect(link).toMatch(new RegExp(`^${world.url}/invite/ty_inv_[0-9a-f]{64}$`));
  const browser = createPageBrowser();
  const page = await browser.open(link);
  expect(page.text).toContain("into the team <strong>red</strong>, as an admin.");
  expect(page.headers["cache-control"]).toBe("no-store");
  const short = await browser.submit(page, { name: "dora", password: "short", again: "short" });
  expect([short.status, short.text.includes('role="alert"')]).toEqual([400, true]);
  const differing = await browser.submit(page, { name: "dora", password, again: `${password}!` });
  expect(differing.text).toContain("The two passwords differ");
  const taken = await browser.submit(page, { name: "bob", password, again: password });
  expect(taken.text).toContain("There is a user bob already");
  const done = await browser.submit(page, { name: "dora", password, again: password });
  expect(done.url).toBe(`${world.url}/connect`);
  expect(done.text).toContain("You are <strong>dora</strong>");
  expect(await membersOf("red")).toContainEqual(expect.objectContaining({ user: "dora", role: "admin" }));
  // Nobody has a token that nobody was shown.
  expect((await world.ask("token", "list", "--user", "dora")).tokens).toEqual([]);
  const again = await createPageBrowser().open(link);
  expect([again.status, again.text.includes("there is no such invitation")]).toEqual([404, true]);
  const other = createPageBrowser();
  const login = await other.submit(await other.open(`${world.url}/auth/login?next=/account`), {
    name: "dora",
    password,
  });
  expect(login.text).toContain("You are <strong>dora</strong>");
});

test("whoever has an account logs in on the way, and joins with one click", async () => {
  const link = await invite();
  const known = await world.logIn("bob");
  const first = await known.open(link);
  expect(first.text).toContain("Join as bob");
  expect(first.text).not.toContain("Make an account");
  // In a browser where nobody is logged in, by way of the login.
  const browser = createPageBrowser();
  const page = await browser.open(link);
  const [, login = ""] = /href="([^"]*\/auth\/login\?next=[^"]+)"/.exec(page.text) ?? [];
  const asked = await browser.submit(await browser.open(new URL(login, world.url).href), { name: "bob", password });
  expect(asked.url).toBe(link);
  const joined = await browser.submit(asked);
  expect(joined.text).toContain("You are <strong>bob</strong>");
  expect(await membersOf("red")).toContainEqual(expect.objectContaining({ user: "bob", role: "member" }));
  // A member cannot join twice.
  const twice = await known.submit(await known.open(await invite()));
  expect(twice.text).toContain("Bob is in red already");
});

test("one that was taken back, or was never made, is answered alike, and a program's form is not taken", async () => {
  const link = await invite();
  const browser = createPageBrowser();
  const page = await browser.open(link);
  const { invites } = await world.ask("invite", "list");
  const open = (invites as { id: string; used: boolean }[]).filter(({ used }) => !used);
  for (const { id } of open) await world.ask("invite", "revoke", id);
  const late = await browser.submit(page, { name: "eve", password, again: password });
  const never = await browser.open(`${world.url}/invite/ty_inv_${"0".repeat(64)}`);
  expect([late.status, never.status]).toEqual([404, 404]);
  expect(late.text).toBe(never.text);
  const form = new URLSearchParams({ name: "eve", password, again: password });
  const forged = await fetch(await invite(), {
    method: "POST",
    body: form,
    headers: { origin: "https://evil.example" },
  });
  expect(forged.status).toBe(403);
});
