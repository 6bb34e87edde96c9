import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";

let team: TeamGateway;
let cast: Cast;
/** Ids of what the teams share, each with its own: both call it `post`. */
const shared: Record<string, string> = {};

const canaryOf = (colour: string): string => `canary-of-${colour}`;
/** As its server writes it: what is known to be a value is written into no log. */
const lineOf = (colour: string): string => canaryOf(colour).split("").toReversed().join("");

beforeAll(async () => {
  team = await startTeamGateway();
  cast = await addCast(team);
  const { command, args } = badServer("--behaviours=env");
  const tell =
    "data:text/javascript,process.stderr.write([String.fromCharCode(10),...process.env.CANARY].reverse().join(String()))";
  const entry = { command, args: ["--import", tell, ...args] };
  const file = join(team.directory, "post.json");
  const fields = [{ path: "env.CANARY", tier: "team", type: "string" }];
  await writeFile(file, JSON.stringify({ entry, fields }));
  await team.command("template", "add", "post", "--file", file);
  for (const [who, colour] of [
    [cast.olga, "red"],
    [cast.cid, "blue"],
  ] as const) {
    const values = { "env.CANARY": canaryOf(colour) };
    const body = { template: "post", scope: "shared", name: canaryOf(colour), values };
    const made = await team.ask(who, "POST", `/api/teams/${colour}/installations`, { body });
    expect([made.status, made.text]).toEqual([200, expect.stringContaining("post")]);
    expect((await team.ask(who, "POST", "/execute/post%3Aenv", { body: {} })).text).toContain(canaryOf(colour));
    const { json } = await team.ask(who, "GET", "/api/instances");
    shared[colour] =
      (json.instances as { id: string; server: string }[]).find(({ server }) => server === "post")?.id ?? "";
  }
});
afterAll(async () => await team[Symbol.asyncDispose]());

const get = async (who: keyof Cast, path: string): Promise<Told> => await team.ask(cast[who], "GET", path);
const at = (colour: string): string => `/api/instances/${encodeURIComponent(shared[colour] ?? "")}`;

test("FAULT 94: logs and events of what a team shares are of that team, and to another they are as if it was not there", async () => {
  // Of their own, both see all.
  await until(async () => (await get("cid", `${at("blue")}/logs`)).text.includes(lineOf("blue")));
  await until(async () => (await get("bob", `${at("red")}/logs`)).text.includes(lineOf("red")));
  expect((await get("cid", `${at("blue")}/events`)).text).toContain("mcp.server.started");
  for (const who of ["olga", "bob", "ann"] as const) {
    for (const what of ["logs", "events"]) {
      const [foreign, none] = [await get(who, `${at("blue")}/${what}`), await get(who, `/api/instances/none/${what}`)];
      expect([who, what, foreign.status, foreign.text]).toEqual([who, what, 404, none.text]);
    }
    const filtered = await get(who, `/api/logs?instance=${encodeURIComponent(shared["blue"] ?? "")}`);
    expect([filtered.status, filtered.text]).toEqual([404, (await get(who, "/api/logs?instance=none")).text]);
    const all = await get(who, "/api/logs");
    expect([who, all.text.includes(lineOf("red")), all.text.includes(lineOf("blue"))]).toEqual([who, true, false]);
  }
});

/** What comes over somebody's live stream, until the signal aborts. */
async function follow(token: string, signal: AbortSignal): Promise<() => string> {
  const headers = { authorization: `Bearer ${token}` };
  const { body, status } = await fetch(`${team.gateway.url}/api/events`, { headers, signal });
  expect(status).toBe(200);
  let text = "";
  const read = async (): Promise<void> => {
    for await (const chunk of body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  };
  void read().catch(() => undefined);
  return () => text;
}

test("FAULT 94: the live stream tells of what a team shares to that team alone", async () => {
  const streams = new AbortController();
  try {
    const reds = await follow(cast.olga, streams.signal);
    const blues = await follow(cast.cid, streams.signal);
    await team.ask(cast.cid, "POST", `${at("blue")}/restart`, { body: {} });
    await until(() => blues().includes(lineOf("blue")));
    // Whatever red is told of that comes before this.
    await team.ask(cast.olga, "POST", `${at("red")}/restart`, { body: {} });
    await until(() => reds().includes(lineOf("red")));
    expect(reds()).not.toContain("blue");
    expect(blues()).not.toContain(lineOf("red"));
  } finally {
    streams.abort();
  }
});

test("FAULT 94: a template for another team is refused as one for a team that is not there", async () => {
  const make = async (slug: string, entry: object): Promise<Told> =>
    await team.ask(cast.olga, "POST", "/api/templates", { body: { slug: "web", team: slug, entry } });
  for (const entry of [{ url: "https://mcp.example.com/mcp" }, { url: 7 }, badServer()]) {
    const [foreign, none] = [await make("blue", entry), await make("nobody", entry)];
    expect([foreign.status, foreign.text]).toEqual([404, none.text]);
  }
});
