import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { buildConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";
import { createConfigDirectory } from "../../src/people/directory/config-directory.ts";
import { createTeamDirectory, type TeamDirectory } from "../../src/people/directory/team-directory.ts";
import { reaches } from "../../src/people/identity/audience.ts";
import { createAuthenticator, type Authenticator } from "../../src/people/identity/authenticator.ts";
import { createForeignTokens } from "../../src/people/identity/foreign-tokens.ts";
import { createLookUp } from "../../src/people/identity/look-ups.ts";
import { introspectionClient, startTokenIssuer, type TokenIssuer } from "../../test/harness/token-issuer.ts";
import { percentile, type Figures } from "./rows.ts";
import { bearer, type World } from "./world.ts";

const base = "https://tools.example.com";
const goal = { most: 2 } as const;
const rounds = 9;
/** A round is over before what introspection said is a second old, after which it has to be asked again. */
const roundChecks = 20_000;
const people = 50;

/** What each request costs to know who sends it: from its headers to the principal, of tokens that came before. */
export async function measureTokens({ people: rows, tokens }: World, figures: Figures): Promise<void> {
  await using issuer = await startTokenIssuer();
  const before = heapKb();
  const directory = createDirectory(issuer, rows);
  directory.apply(rows);
  figures.add("memory for each member, with user and token", (heapKb() - before) / rows.memberships.length, "KB");
  const authenticator = createAuthenticator(
    directory,
    createLookUp(directory, (error) => process.stderr.write(`${String(error)}\n`)),
    { isMeantFor: (audience, { url = "/" }) => reaches(audience, base, url), bySession: () => undefined },
  );
  const users = rows.users.slice(0, people);
  const claims = (id: string) => ({ iss: issuer.issuer, sub: id, aud: `${base}/mcp`, scope: "mcp:tools:execute" });
  const signed = await Promise.all(users.map(async ({ id }) => await issuer.sign({ ...claims(id), ...usualClaims })));
  const opaque = users.map(({ id }) => {
    const token = `opaque-${id.padEnd(40, "0")}`;
    issuer.opaque.set(token, { active: true, exp: Math.floor(Date.now() / 1_000) + 600, ...claims(id) });
    return token;
  });
  const bytes = `${signed[0]?.length ?? 0} bytes`;
  const add = (what: string, value: number, note?: string) => figures.add(what, value, "us", { goal, note });
  add("check of a known token of ours", await checkCost(authenticator, tokens.slice(0, people)));
  add("check of a known token of another server, signed", await checkCost(authenticator, signed), bytes);
  add("check of a known token of another server, opaque", await checkCost(authenticator, opaque));
  directory.stop();
}

/** What authorization servers put into tokens beside what is needed. */
const usualClaims = {
  ...{ azp: "claude-code", sid: "8f1c8f0e-1f1f-4c57-9a35-0e5e3f1b2c3d", email: "somebody@example.com", acr: "1" },
  ...{ name: "Somebody Else", groups: ["engineering", "platform", "on-call"], typ: "Bearer", jti: "0b6a3f0c-6c0f" },
};

function createDirectory(issuer: TokenIssuer, { users }: World["people"]): TeamDirectory {
  const config = buildConfig(undefined, { cwd: "/", env: {}, flags: {}, homeDirectories: { config: "/", data: "/" } });
  const known = new Set(users.map(({ id }) => id));
  const foreign = createForeignTokens({
    rules: {
      ...{ issuers: [issuer.issuer], audiences: [], algorithms: ["ES256"], scopes: [], teamClaim: undefined },
      introspection: introspectionClient,
    },
    base: () => base,
    isScope: (text) => text.startsWith("mcp:"),
    userOf: async ({ subject }) => await Promise.resolve(known.has(subject) ? subject : undefined),
    membersOf: (id) => directory.book.membersOf(id),
    onStranger: ({ why }) => process.stderr.write(`${why}\n`),
    clock: systemClock,
  });
  const beside = createConfigDirectory(config);
  const directory: TeamDirectory = createTeamDirectory({ beside, config: () => config, clock: systemClock, foreign });
  return directory;
}

async function checkCost(authenticator: Authenticator, tokens: readonly string[]): Promise<number> {
  // On one connection, as from a proxy: no request brings the header of the one before it.
  const socket = new EventEmitter().setMaxListeners(0);
  const requests = tokens.map((token) => toRequest(token, socket));
  const costs: number[] = [];
  while (costs.length <= rounds) {
    await Promise.all(requests.map(async (request) => await authenticator.authenticate(request)));
    const cost = await checkAll(authenticator, requests);
    if (cost !== undefined) costs.push(cost);
  }
  // The first round was for V8.
  return percentile(costs.slice(1), 0.5);
}

/** Undefined where one of them had to be asked about again meanwhile. */
async function checkAll(authenticator: Authenticator, requests: readonly IncomingMessage[]) {
  const begin = process.cpuUsage();
  for (let at = 0; at < roundChecks; at += requests.length)
    for (const request of requests) {
      const found = authenticator.authenticate(request);
      if (!(found instanceof Promise)) continue;
      await found;
      return undefined;
    }
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / roundChecks;
}

/** As node:http hands one over, as far as anybody looks at it here. */
function toRequest(token: string, socket: EventEmitter): IncomingMessage {
  const { authorization } = bearer(token);
  const others = { host: "tools.example.com", "user-agent": "claude-code/2.1", "content-type": "application/json" };
  const more = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
  const headers = { ...others, ...more, authorization, "content-length": "180", connection: "keep-alive" };
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => [name, value ?? ""]);
  return { url: "/mcp", headers, rawHeaders, socket } as unknown as IncomingMessage;
}

function heapKb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_024;
}
