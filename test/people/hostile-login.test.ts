import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { badServer } from "../harness/gateway.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../oauth/authorization-server.ts";
import { clickThrough } from "../oauth/browser.ts";
import { json, startProtectedServer, type ProtectedServer } from "../oauth/mcp-server.ts";
import type { PageBrowser, SeenPage } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let authorization: AuthorizationServer;
let server: ProtectedServer;
let world: TeamWorld;
let bob: PageBrowser;
let token: string;
/** What the server says of itself, and what its authorization server does; usual where it is undefined. */
let resourceMetadata: ((response: ServerResponse, request: IncomingMessage) => void) | undefined;
let challenge: string | undefined;
let metadata: Readonly<Record<string, unknown>> = {};

beforeAll(async () => {
  let url = "";
  authorization = await startAuthorizationServer({
    resource: () => url,
    authorizationMetadata: (usual) => ({ ...usual, ...metadata }),
  });
  const usual = (response: ServerResponse): void =>
    json(response, 200, {
      resource: url,
      authorization_servers: [authorization.issuer],
      scopes_supported: ["mcp:use"],
    });
  server = await startProtectedServer({
    issuer: () => authorization.issuer,
    accepts: async (given, resource) => (await authorization.audienceOf(given)) === resource,
    metadata: (response, request) => (resourceMetadata ?? usual)(response, request),
    intercept(request, response) {
      if (challenge === undefined || request.url !== "/mcp") return false;
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${challenge}"` }).end();
      return true;
    },
  });
  ({ url } = server);
  world = await startTeamWorld({
    port: await freePort(),
    servers: {
      vault: { type: "http", url, scope: "user" },
      own: { ...badServer("--behaviours=env"), scope: "user" },
    },
  });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ({ token } = (await world.ask("user", "add", "bob", "--team", "red")).made as { token: string });
  bob = await world.logIn("bob");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});
beforeEach(() => {
  resourceMetadata = undefined;
  challenge = undefined;
  metadata = {};
});

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function address(): Promise<string> {
  const id = await until(async () => {
    const { instances } = (await get(`${world.url}/api/instances`, bearer())).json as {
      instances: { id: string; server: string }[];
    };
    return instances.find((one) => one.server === "vault")?.id;
  });
  return `${world.url}/connect/${encodeURIComponent(id)}`;
}

/** What the person sees who wants to log in. */
async function begin(): Promise<SeenPage> {
  return await bob.submit(await bob.open(await address()), {}, 'value="login"');
}

const linkOf = (page: SeenPage): string | undefined =>
  /<a class="button" rel="noreferrer" href="([^"]+)"/.exec(page.text)?.[1]?.replaceAll("&#38;", "&");

/** Nothing leads away from the page, and it says what was wrong. */
function expectRefused(page: SeenPage, sentence: string): void {
  expect([page.status, linkOf(page), page.text.includes(sentence)], page.text).toEqual([502, undefined, true]);
  expect(page.text).not.toMatch(/(?:href|src|action)="(?!\/|https?:\/\/127\.0\.0\.1)/);
  expect(page.text).toContain("Nobody is logged in.");
  expect(page.headers.location).toBeUndefined();
}

afterEach(async () => {
  // Whatever was tried, the way as it should be is open after it.
  [resourceMetadata, challenge, metadata] = [undefined, undefined, {}];
  const page = await begin();
  const { url: callback } = await clickThrough(linkOf(page) ?? "", { stopAt: `${world.url}/` });
  const back = await bob.open(callback);
  expect(back.text).toContain("You are logged in.");
  await bob.submit(back, {}, 'value="logout"');
});

describe("FAULT 104, 105: a server behind the gateway that leads a login astray gets neither the person nor the gateway there", () => {
  test.each([
    "javascript:alert(document.cookie)",
    "JaVaScRiPt://127.0.0.1/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "vbscript:x",
    "http://login.example/authorize",
    "https://bob:canary@login.example/authorize",
    "/authorize",
    '"><script>alert(1)</script>',
  ])("its authorization endpoint is %s", async (endpoint) => {
    metadata = { authorization_endpoint: endpoint };
    const page = await begin();
    expectRefused(page, "Nobody is logged in.");
    expect(page.text).not.toContain("canary");
    expect(page.text).not.toContain("<script");
  });

  test.each([
    ["http://169.254.169.254/latest/meta-data/", "not encrypted"],
    ["https://169.254.169.254/latest/meta-data/", "not in the public Internet"],
    ["file:///etc/passwd", "not http or https"],
    ["http://login.example/metadata", "not encrypted"],
  ])("its challenge names the metadata %s", async (named, sentence) => {
    challenge = named;
    expectRefused(await begin(), sentence);
  });

  test.each<readonly [string, string, (response: ServerResponse) => void]>([
    [
      "of another resource",
      "for another resource",
      (response) =>
        json(response, 200, { resource: "https://a.example/mcp", authorization_servers: ["https://a.example"] }),
    ],
    ["without an end", "more than 256 KB", (response) => void pour(response, 65_536, 1)],
    ["that comes a byte at a time", "15 s", (response) => void pour(response, 1, 100)],
  ])("its metadata is that %s", async (_what, sentence, answer) => {
    resourceMetadata = answer;
    const refused = begin();
    // Others are served meanwhile.
    expect((await run(world.url, "own:env", {}, bearer())).status).toBe(200);
    expectRefused(await refused, sentence);
  });

  test.each(["token_endpoint", "registration_endpoint"])("its %s is inside the machine's network", async (endpoint) => {
    metadata = { [endpoint]: "https://169.254.169.254/inside" };
    const page = await begin();
    const link = linkOf(page);
    if (link === undefined) return expectRefused(page, "not in the public Internet");
    // Registered before: only what comes after the browser is refused.
    const { url: callback } = await clickThrough(link, { stopAt: `${world.url}/` });
    expectRefused(await bob.open(callback), "not in the public Internet");
  });
});

async function pour(response: ServerResponse, bytes: number, everyMs: number): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  while (!response.destroyed) {
    response.write(" ".repeat(bytes));
    await delay(everyMs);
  }
}
