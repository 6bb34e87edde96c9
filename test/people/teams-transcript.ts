import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../harness/free-port.ts";
import { badServer } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { startAuthorizationServer } from "../oauth/authorization-server.ts";
import { clickThrough } from "../oauth/browser.ts";
import { startProtectedServer } from "../oauth/mcp-server.ts";
import { callbackUrl, consent, refresh } from "./app-client.ts";
import { clientSecret, logInAt, startIdentityProvider } from "./identity-provider.ts";
import { createKeptLogin } from "./kept-login.ts";
import { createPageBrowser, type PageBrowser } from "./page-browser.ts";
import { initialize, startRemoteFront } from "./remote-front.ts";
import { startTeamWorld } from "./team-world.ts";

// What docs/teams-transcript.md shows: every line below a `$` or a client's name is what really came back.
// `node scripts/teams-transcript.mjs` runs it and writes the page.

const memory = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-memory/dist/index.js", import.meta.url),
);
const lines: string[] = [];

/** Ports, ids and secrets are others each time, and secrets are nobody's business. */
function tidy(text: string): string {
  return text
    .replaceAll(/ty_(inv|pat)_[0-9a-f]{64}/g, "ty_$1_...")
    .replaceAll(world.url, "https://tools.example.com")
    .replaceAll(world.directory, "...")
    .replaceAll(idp.issuer, "https://login.example.com")
    .replaceAll(/(?:http:\/\/)?(127\.0\.0\.1:\d+)/g, (found, host: string) => {
      if (found.endsWith(new URL(authorization.issuer).host)) return found.replace(/^.*$/, "login.tickets.example");
      return host === new URL(tickets.url).host ? "https://tickets.example" : found;
    })
    .replaceAll(/\b((?:m|i|g|tp)_)[0-9a-z]{26}\b/g, "$1...")
    .replaceAll(/(_\.\.\.)-[0-9a-f]{12}/g, "$1-...");
}

const say = (text: string): void => void lines.push(text);
const block = (text: string): void => say(`\n\`\`\`\n${tidy(text).trimEnd()}\n\`\`\`\n`);

const idp = await startIdentityProvider();
let ticketsUrl = "";
const authorization = await startAuthorizationServer({ resource: () => ticketsUrl });
const tickets = await startProtectedServer({
  issuer: () => authorization.issuer,
  accepts: async (token, resource) => (await authorization.audienceOf(token)) === resource,
});
ticketsUrl = tickets.url;
const port = await freePort();
idp.serve([{ gateway: `http://127.0.0.1:${port}`, name: "company", id: "toolyard" }]);
const company = {
  ...{ issuer: idp.issuer, clientId: "toolyard", clientSecret, title: "Company" },
  ...{ scopes: ["openid", "profile", "email", "groups"], provision: "groups" },
  groups: { engineering: { red: "member" }, sales: { blue: "member" } },
};
const world = await startTeamWorld({ settings: { auth: { providers: { company } } }, servers: {}, port });
const home = await mkdtemp(join(tmpdir(), "toolyard-transcript-"));

async function command(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.command(...words);
  return `$ toolyard ${words.join(" ").replaceAll(`${home}/`, "")}\n${stdout}${code === 0 ? "" : `${stderr}(code ${code})\n`}`;
}

async function logIn(sub: string, groups: readonly string[]): Promise<PageBrowser> {
  const browser = createPageBrowser({ stopAt: callbackUrl });
  idp.person = { sub, preferred_username: sub, name: sub, email: `${sub}@example.com`, groups };
  const page = await logInAt(browser, world.url, "company");
  if (!page.text.includes(`You are <strong>${sub}</strong>`)) throw new Error(page.text);
  return browser;
}

/** The paragraphs of a page, as somebody reads them. */
function read(text: string): string {
  const main = /<main[^>]*>([^]*)<\/main>/.exec(text)?.[1] ?? "";
  const words = main.replaceAll(/<(?:p|h\d|li|label|button)[^>]*>/g, "\n").replaceAll(/<[^>]+>/g, "");
  return words
    .replaceAll("&#39;", "'")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ ?\n\s*/g, "\n")
    .trim();
}

async function write(name: string, template: object): Promise<string> {
  const file = join(home, name);
  await writeFile(file, JSON.stringify(template));
  return file;
}

try {
  say("## The first admin, two teams and three servers\n");
  say(
    "With the link that `toolyard user link` prints, and `toolyard serve --team` on a terminal, ann makes herself the",
  );
  say("first admin. Her page then says:");
  const { link } = await world.ask("user", "link");
  const ann = createPageBrowser();
  const about = {
    code: link.split("#")[1],
    name: "ann",
    team: "red",
    password: "a long password",
    again: "a long password",
  };
  const account = await ann.submit(await ann.open(`${world.url}/setup`), about);
  block(read(account.text).split("\n").slice(0, 2).join("\n"));
  const key = { path: "env.CANARY", type: "secret", required: true, description: "The key of your mail account" };
  const mail = await write("mail.json", { entry: badServer("--behaviours=canary,hang,pid"), fields: [key] });
  const remote = await write("tickets.json", { entry: { type: "http", url: tickets.url }, fields: [] });
  const entry = { command: process.execPath, args: [memory], scope: "shared" };
  const notes = await write("notes.json", { entry, fields: [] });
  block(
    [
      await command("team", "add", "blue"),
      await command("template", "add", "mail", "--file", mail),
      await command("template", "add", "tickets", "--file", remote),
      await command("template", "add", "notes", "--file", notes),
      await command("install", "mail", "--team", "red"),
      await command("install", "tickets", "--team", "red"),
      await command("install", "notes", "--team", "red", "--scope", "shared"),
      await command("install", "notes", "--team", "blue", "--scope", "shared"),
      await command("installations"),
    ].join(""),
  );

  say("## Four people\n");
  say(
    "bob and cid log in at the company's identity provider, whose groups put them into their teams. dora is invited:",
  );
  const bob = await logIn("bob", ["engineering"]);
  await logIn("cid", ["sales"]).then(async (browser) => await browser.open(`${world.url}/account`));
  const invited = await command("invite", "new", "--team", "red", "--about", "dora");
  const secret = /\/invite\/(\S+)/.exec(invited)?.[1] ?? "";
  const dora = createPageBrowser();
  const invitation = await dora.open(`${world.url}/invite/${secret}`);
  await dora.submit(invitation, { name: "dora", password: "another long one", again: "another long one" });
  block(`${invited}\n${read(invitation.text).split("\n").slice(0, 2).join("\n")}`);
  block([await command("user", "list"), await command("team", "members", "red")].join("\n"));

  say("## bob, with the official SDK (v2) and nothing but the address\n");
  const login = createKeptLogin();
  const url = new URL(`${world.url}/mcp`);
  const open = async () => {
    const client = new Client({ name: "bobs-app", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const transport = new StreamableHTTPClientTransport(url, { authProvider: login.provider });
    return { client, transport, connect: async () => await client.connect(transport) };
  };
  const first = await open();
  const refused = await first.connect().then(
    () => "connected",
    (error: unknown) => String(error),
  );
  const asked = login.asked[0]?.href ?? "";
  const consentPage = await bob.open(asked);
  block(`bobs-app: connect\n${refused.split("\n")[0] ?? ""}\n\nIn bob's browser:\n${read(consentPage.text)}`);
  await first.transport.finishAuth((await consent(bob, { url: asked, verifier: "", state: "" })).searchParams);
  const app = await open();
  await app.connect();
  const call = async (tool: string, args: object = {}): Promise<string> => {
    const wanted = { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: args } };
    const { content } = (await app.client.callTool(wanted)) as { content: { text?: string }[] };
    return `bobs-app: ${tool}\n${(content[0]?.text ?? "").slice(0, 400)}\n`;
  };
  const wantsLogin = async (): Promise<string | undefined> => {
    const text = await call("tickets:headers");
    return text.includes("/connect/") ? text : undefined;
  };
  block(`${await until(wantsLogin)}\n${await call("mail:canary")}`);
  say("He opens both pages: on one he gives his key, on the other he logs in at the tickets with his own account.");
  const page = async (slug: string) => {
    const own = await bob.open(`${world.url}/account`);
    const path = new RegExp(`href="(/connect/${slug}-[^"]+)"`).exec(own.text)?.[1] ?? "";
    return await bob.open(`${world.url}${path}`);
  };
  const mailPage = await page("mail");
  await bob.submit(mailPage, { "v:env.CANARY": "bobs-key" }, 'value="values"');
  const ticketsPage = await page("tickets");
  const wayOut = await bob.submit(ticketsPage, {}, 'value="login"');
  const address = /rel="noreferrer" href="([^"]+)"/.exec(wayOut.text)?.[1]?.replaceAll("&#38;", "&") ?? "";
  const back = await bob.open((await clickThrough(address, { stopAt: `${world.url}/` })).url);
  block(`${read(mailPage.text)}\n\n---\n\n${read(wayOut.text)}\n\n---\n\n${read(back.text)}`);
  const works = async (): Promise<string | undefined> => {
    const text = await call("tickets:headers");
    return /authorization/.test(text) ? text : undefined;
  };
  block(
    `${await until(works)}\n${(await call("mail:canary")).replaceAll("bobs-key", "(bob's key)")}\n${await call("notes:read_graph")}`,
  );

  say("## cid, with mcp-remote\n");
  const cid = await logIn("cid", ["sales"]);
  const front = await startRemoteFront({ url: `${world.url}/mcp`, home: join(home, "cid") });
  const cidsPage = await cid.open(await front.asked());
  await until(() => front.log().includes("callback server running"), 60_000);
  await cid.submit(cidsPage, { answer: "allow" }, 'name="answer"');
  await initialize(front);
  const ask = async (tool: string): Promise<string> => {
    const answer = await front.ask("tools/call", {
      ...{ name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: {} } },
    });
    return `cid: ${tool}\n${String(answer.result?.content[0]?.text ?? answer.error?.message).slice(0, 400)}\n`;
  };
  const reads = async (): Promise<string | undefined> => {
    const text = await ask("notes:read_graph");
    return text.includes("entities") ? text : undefined;
  };
  block(`${await until(reads)}\n${await ask("mail:canary")}`);
  await front[Symbol.asyncDispose]();

  say("## bob is removed in the middle of a call\n");
  const pid = Number(/pid\W+(\d+)/.exec(await call("mail:pid"))?.[1]);
  const running = call("mail:hang").then(
    (text) => text,
    (error: unknown) => `bobs-app: mail:hang\n${String(error)}\n`,
  );
  await until(async () => (await readdir("/proc")).includes(String(pid)));
  const kept = login.file.tokens?.refresh_token ?? "";
  const removed = await command("team", "members", "red", "--remove", "bob");
  const ended = await running;
  const again = await call("mail:pid").catch(
    (error: unknown) => `bobs-app: mail:pid\n${String(error).split("\n")[0] ?? ""}\n`,
  );
  await until(async () => !(await readdir("/proc")).includes(String(pid)));
  const { client_id: clientId } = login.file.client as { client_id: string };
  const renewal = await refresh(world.url, clientId, kept);
  block(
    `${removed}\n${ended}\n${again}\nthe process of his mail server: gone\nrenewing his app's token: ${renewal.status} ${JSON.stringify(renewal.json)}`,
  );
  say("What of it is in the audit:");
  const entries = (await world.command("audit", "--limit", "100")).stdout.split("\n");
  block(
    entries
      .filter((line) =>
        / (?:team\.member\.remove|app\.consent|server\.connect|login|invite\.accept|login\.remove) /.test(line),
      )
      .join("\n"),
  );
} finally {
  await world[Symbol.asyncDispose]();
  await tickets[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
}
process.stdout.write(`\n=====\n${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n")}\n`);
process.exit(0);
