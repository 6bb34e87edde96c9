import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer } from "../harness/gateway.ts";
import { run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, connectApp } from "./app-client.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
/** Ids that earlier rows have learned, and files. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  world = await startTeamWorld();
  ids["template-file"] = join(world.directory, "template.json");
  ids["import-file"] = join(world.directory, "import.json");
  ids["backup"] = join(world.directory, "backup.db");
  const fields = [{ path: "env.REGION", tier: "team", type: "string" }];
  await writeFile(ids["template-file"], JSON.stringify({ entry: badServer("--behaviours=env"), fields }));
  const mcpServers = { imported: { url: "https://mcp.example.com/mcp" } };
  await writeFile(ids["import-file"], JSON.stringify({ mcpServers }));
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** What a command does, and how it says no. `<name>` stands for what an earlier row has learned. */
interface Row {
  readonly words: string;
  /** What the one JSON object has that it prints. */
  readonly gives?: object;
  /** Of commands that print lines. */
  readonly says?: RegExp;
  readonly stdin?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- rows look into whatever came back
  readonly learns?: Readonly<Record<string, (json: any) => unknown>>;
  /** The same command with what there is not, and what it says then. */
  readonly not: readonly [words: string, said: RegExp];
}

const noUser = /there is no user|no such user/i;
const noTeam = /there is no(?: such)? team/i;

const rows: readonly Row[] = [
  {
    words: "user add ann --admin --team red",
    learns: { token: ({ made }) => made.token },
    not: ["user add Ann! --team red", /is no name/],
  },
  { words: "user add bob --team red", gives: { made: {} }, not: ["user add bob --team red", /already|taken/] },
  {
    words: "user list",
    gives: {
      users: [
        { name: "ann", role: "admin" },
        { name: "bob", teams: [{ team: "red" }] },
      ],
    },
    not: ["user lists", /user list, or add/],
  },
  { words: "user link bob", gives: { link: expect.stringContaining("/setup#") }, not: ["user link nobody", noUser] },
  { words: "user email bob --email bob@example.com", not: ["user email nobody --email bob@example.com", noUser] },
  {
    words: "user account bob --issuer https://sso.example.com --subject 7",
    not: ["user account bob --issuer https://sso.example.com", /--subject ID/],
  },
  { words: "user role bob --role admin", not: ["user role bob --role king", /king|admin or user/] },
  { words: "user disable bob", not: ["user disable nobody", noUser] },
  { words: "user enable bob", not: ["user enable nobody", noUser] },
  { words: "user reset bob", gives: { revoked: 1 }, not: ["user reset nobody", noUser] },
  { words: "team add blue", not: ["team add blue", /already|taken/] },
  {
    words: "team list",
    gives: {
      teams: [
        { slug: "blue", members: 0 },
        { slug: "red", members: 2 },
      ],
    },
    not: ["team lists", /team list, or add/],
  },
  { words: "team members blue --add bob", not: ["team members nix --add bob", noTeam] },
  { words: "team members blue", gives: { members: [{}] }, not: ["team members nix", noTeam] },
  {
    words: "team role blue --user bob --role admin",
    not: ["team role blue --user bob --role king", /king|owner, admin/],
  },
  { words: "team owner blue --user bob", not: ["team owner blue --user ann", /no(?: such)? member|not in/i] },
  { words: "team limits blue --most-servers 3", not: ["team limits nix --most-servers 3", noTeam] },
  {
    words: "team import blue --file <import-file> --yes",
    not: ["team import nix --file <import-file> --yes", noTeam],
  },
  {
    words: "installations --team blue",
    gives: { installations: [{ slug: "imported" }] },
    not: ["installations --team nix", noTeam],
  },
  {
    words: "invite new --team red --about fay",
    learns: { invite: ({ id }) => id },
    not: ["invite new --team nix", noTeam],
  },
  {
    words: "invite list --team red",
    gives: { invites: [{ about: "fay" }] },
    not: ["invite lists", /invite list, or new/],
  },
  { words: "invite revoke <invite>", not: ["invite revoke <invite>", /no such invitation|there is no/] },
  {
    words: "token new --user bob --team red --name laptop",
    learns: { "token of bob": ({ made }) => made.id },
    not: ["token new --user nobody --team red", noUser],
  },
  {
    words: "token list --user bob",
    gives: { tokens: [{ name: "laptop" }] },
    not: ["token list --user nobody", noUser],
  },
  { words: "token revoke <token of bob>", not: ["token revoke <token of bob>", /no such token|there is no/] },
  {
    words: "app list --user ann",
    gives: { apps: [{ name: "Test app" }] },
    learns: { app: ({ apps }) => apps[0].id },
    not: ["app list --user nobody", noUser],
  },
  { words: "app revoke <app>", not: ["app revoke nothing", /there is no/] },
  {
    words: "session list --user ann",
    gives: { sessions: [{ user: "ann" }] },
    learns: { session: ({ sessions }) => sessions[0].id },
    not: ["session list --user nobody", noUser],
  },
  { words: "session end <session>", not: ["session end nothing", /there is no/] },
  {
    words: `client add A-service --redirect ${callbackUrl}`,
    learns: { client: ({ client }) => client.id },
    not: ["client add A-service --redirect http://evil.example/callback", /over https/],
  },
  { words: "client list", gives: { areMore: false }, not: ["client lists", /client list, client add/] },
  { words: "client rm <client>", not: ["client rm <client>", /no such client/] },
  {
    words: "template add mail --file <template-file>",
    not: ["template add mail --file <template-file>", /already|taken/],
  },
  { words: "template list", gives: { templates: [{}, {}] }, not: ["template list --team nix", noTeam] },
  {
    words: "template change mail --file <template-file>",
    not: ["template change nothing --file <template-file>", /no such template|there is no/],
  },
  {
    words: "install mail --team red --set env.REGION=eu",
    not: ["install nothing --team red", /no such template|there is no/],
  },
  {
    words: "config get mail --team red",
    gives: { values: { fields: [{ path: "env.REGION", value: "eu" }] } },
    not: ["config get nothing --team red", /there is no/],
  },
  { words: "config set mail --team red env.REGION=us", not: ["config set mail --team red env.NOTHING=us", /NOTHING/] },
  {
    words: "config unset mail --team red env.REGION",
    not: [
      "config unset mail --team red env.REGOIN",
      /env\.REGOIN is not the team's to set; did you mean `env\.REGION`/,
    ],
  },
  {
    words: "secret set MAIL --team red",
    stdin: "a secret of red",
    not: ["secret set MAIL --team nix", noTeam],
  },
  { words: "secret list --team red", gives: { secrets: [{ name: "MAIL" }] }, not: ["secret list --team nix", noTeam] },
  { words: "secret rm MAIL --team red", not: ["secret rm MAIL --team red", /no such secret|there is no/] },
  { words: "key rotate", gives: { rotated: {} }, not: ["key turn", /key rotate/] },
  { words: "uninstall mail --team red", not: ["uninstall mail --team red", /there is no/] },
  { words: "template rm mail", not: ["template rm mail", /no such template|there is no/] },
  { words: "calls", says: /"name":"own:env"/, not: ["calls --limit many", /limit/] },
  { words: "logs", says: /^/, not: ["logs --level loud", /loud|level/] },
  { words: "usage --by tool", says: /own:env/, not: ["usage --by nothing", /each once/] },
  { words: "audit --limit 5", says: /"action":"template\.remove"/, not: ["audit --limit many", /limit/] },
  { words: "audit verify", says: /"isWhole":true/, not: ["audit check", /audit/] },
  { words: "backup <backup>", says: /backup\.db/, not: ["backup", /FILE/] },
  { words: "restore <backup>", not: ["restore", /FILE/], says: /never/ },
  { words: "db check", gives: { databases: [{}, {}] }, not: ["db drop", /db check/] },
  { words: "team remove blue", not: ["team remove blue", noTeam] },
  { words: "user role bob --role user", not: ["user role ann --role user", /last admin/] },
  { words: "user remove bob", not: ["user remove ann", /last admin/] },
];

test("every command about people, teams and what they keep has a row", () => {
  const known = new Set(rows.map(({ words }) => words.split(" ", 1)[0]));
  const ofTeams = /people|teams|gateway for teams|backup|databases/;
  const missing = Object.entries(commands).filter(([name, { about }]) => ofTeams.test(about) && !known.has(name));
  // These have tests of their own: they log in elsewhere, or look at the machine.
  expect(missing.map(([name]) => name).filter((name) => !["login", "logout", "open", "doctor"].includes(name))).toEqual(
    [],
  );
});

async function toolyard(input: string | undefined, ...words: readonly string[]): Promise<CommandResult> {
  const where = ["--config", world.gateway.configFile, "--data-dir", join(world.directory, "data")];
  return await runCommand([...words, ...where], {}, input);
}

const fill = (words: string): string[] =>
  words.split(/ (?![^<]*>)/).map((word) => word.replaceAll(/<([^>]+)>/g, (_all, name: string) => ids[name] ?? name));

test.each(rows.map((row) => [row.words, row] as const))("`toolyard %s`", async (_words, row) => {
  if (row.words.startsWith("app list")) {
    const ann = await world.logIn("ann", { stopAt: callbackUrl });
    await connectApp(world.url, ann);
    const call = async () => await run(world.url, "own:env", {}, { authorization: `Bearer ${ids["token"]}` });
    await until(async () => (await call()).status === 200);
  }
  // What is running cannot be replaced.
  if (row.words.startsWith("restore")) {
    expect(await toolyard(undefined, ...fill(row.words))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("stop"),
    });
    return;
  }
  const { code, stdout, stderr } = await toolyard(row.stdin, ...fill(row.words), "--json");
  expect([row.words, code, stderr]).toEqual([row.words, 0, ""]);
  if (row.gives !== undefined) expect(JSON.parse(stdout)).toMatchObject(row.gives);
  if (row.says !== undefined) expect(stdout).toMatch(row.says);
  for (const [name, find] of Object.entries(row.learns ?? {})) ids[name] = String(find(JSON.parse(stdout)));
  const [words, said] = row.not;
  const refused = await toolyard("x", ...fill(words));
  expect([words, refused.code === 0]).toEqual([words, false]);
  expect(refused.stderr).toMatch(said);
});
