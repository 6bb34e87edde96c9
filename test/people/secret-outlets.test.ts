import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { get, run } from "../harness/rest.ts";
import { startTraceCollector } from "../harness/trace-collector.ts";
import { until } from "../harness/until.ts";
import { startTeamWorld } from "./team-world.ts";

const ofTeam = "s3cret of/the+red=team";
const ofBob = "bobs-0wn s3cret?";

/** Says what it was given on stderr in many ways, and ends. */
const talkative = `
  const { MAIL, OWN } = process.env;
  for (const text of [MAIL, OWN])
    for (const said of [text, JSON.stringify({ text }), encodeURIComponent(text), Buffer.from(text).toString("base64")])
      console.error("cannot log in with " + said + " at https://me:" + encodeURIComponent(text) + "@mail.example.com");
  process.exit(3);
`;

test("FAULT J: what a server says of secrets of a team and a person before it crashes is in no status, log, event, trace or file", async () => {
  await using collector = await startTraceCollector();
  await using world = await startTeamWorld({
    settings: { debugRoute: true, logLevel: "debug", records: { audit: "on" } },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  const ann = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made.token as string;
  const bob = (await world.ask("user", "add", "bob", "--team", "red")).made.token as string;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const put = async (token: string, method: string, path: string, body: object): Promise<void> => {
    const headers = { ...bearer(token), "content-type": "application/json" };
    const answer = await fetch(`${world.url}${path}`, { method, headers, body: JSON.stringify(body) });
    expect([path, answer.status]).toEqual([path, 200]);
  };
  const file = join(world.directory, "template.json");
  const entry = { command: process.execPath, args: ["-e", talkative], env: { MAIL: "${secret:MAIL}" } };
  await writeFile(file, JSON.stringify({ entry, fields: [{ path: "env.OWN", type: "secret", required: true }] }));
  await world.ask("template", "add", "mail", "--file", file);
  await world.ask("install", "mail", "--team", "red");
  await put(ann, "PUT", "/api/teams/red/secrets/MAIL", { value: ofTeam });
  await put(bob, "PATCH", "/api/teams/red/installations/mail/config/me", { values: { "env.OWN": ofBob } });
  const reason = await until(async () => {
    await run(world.url, "mail:send", {}, bearer(bob));
    const { text } = await get(`${world.url}/api/servers`, bearer(bob));
    return text.includes("cannot log in with") && text;
  });
  expect(reason).toContain("exited with code 3");
  const instances = (await get(`${world.url}/api/instances`, bearer(bob))).json.instances as {
    id: string;
    server: string;
  }[];
  const id = encodeURIComponent(instances.find(({ server }) => server === "mail")?.id ?? "");
  await until(async () =>
    (await get(`${world.url}/api/instances/${id}/logs`, bearer(bob))).text.includes("cannot log in"),
  );
  await until(() => collector.bytes.length > 0);
  const told: string[] = [reason, (await run(world.url, "mail:send", {}, bearer(bob))).text];
  for (const who of [ann, bob])
    for (const path of [
      "/api/status",
      "/api/status/debug",
      "/api/status/activity",
      "/api/servers/mail",
      `/api/instances/${id}`,
      `/api/instances/${id}/logs`,
      `/api/instances/${id}/events`,
      "/api/logs",
      "/api/calls",
      "/api/audit",
      "/metrics",
      "/api/teams/red/secrets",
      "/api/teams/red/installations/mail/instances",
      "/api/teams/red/installations/mail/config/team",
      "/api/teams/red/installations/mail/config/me",
      "/api/templates",
    ])
      told.push((await get(`${world.url}${path}`, bearer(who))).text);
  for (const words of [
    ["status"],
    ["status", "--json"],
    ["logs"],
    ["calls"],
    ["audit", "--json"],
    ["doctor"],
    ["installations"],
  ])
    told.push(Object.values(await world.command(...words)).join("\n"));
  await world.gateway.stop();
  told.push(
    world.gateway.stderr(),
    world.gateway.stdout(),
    ...collector.bytes.map((bytes) => bytes.toString("latin1")),
  );
  const files = await readdir(join(world.directory, "data"), { recursive: true, withFileTypes: true });
  for (const one of files.filter((found) => found.isFile()))
    told.push(await readFile(join(one.parentPath, one.name), "latin1"));
  expect(told.some((text) => text.includes("cannot log in with"))).toBe(true);
  for (const secret of [ofTeam, ofBob]) {
    const bytes = Buffer.from(secret);
    const forms = [secret, encodeURIComponent(secret), bytes.toString("base64"), bytes.toString("hex")];
    for (const form of forms)
      expect(told.filter((text) => text.includes(form)).map((text) => text.slice(0, 300))).toEqual([]);
  }
});
