import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serializeCredential } from "../../../src/servers/logins/credential.ts";
import { createTokenVault } from "../../../src/store/files/token-vault.ts";
import { badServer } from "../../harness/gateway.ts";
import { get, post, run } from "../../harness/rest.ts";
import { execute } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { closeServer } from "../../oauth/authorization-server.ts";
import { startProtectedServer } from "../../oauth/mcp-server.ts";
import { discover, startFaulty, untilOnline } from "../servers/faulty-gateway.ts";

/** Its beginning is random as well, so that it can be looked for; the rest looks different in every form. */
function canary(): string {
  return `${randomBytes(8).toString("hex")} +/?"=~`;
}

const secrets = {
  env: canary(),
  header: canary(),
  password: canary().slice(0, 16),
  argument: canary(),
  access: randomBytes(24).toString("hex"),
  refresh: randomBytes(24).toString("hex"),
  client: randomBytes(24).toString("hex"),
};

/** What of a secret stands in its base64, whatever stands before it. */
function inBase64(secret: string, before: number): string {
  const encoded = Buffer.from(`${"x".repeat(before)}${secret}yyy`).toString("base64");
  return encoded.slice(before === 0 ? 0 : 4, Math.floor(((before + secret.length) * 8) / 6) - 1);
}

function formsOf(secret: string): readonly string[] {
  const hex = Buffer.from(secret).toString("hex");
  const url = encodeURIComponent(secret);
  const base64 = [0, 1, 2].map((before) => inBase64(secret, before));
  // The beginning is that of the raw, escaped and URL forms alike, and of a cut line.
  return [secret.slice(0, 6), secret, url, hex, hex.toUpperCase(), ...base64];
}

/** Names of the secrets that a text shows, and how. */
function found(text: string): readonly string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).flatMap((form, index) => (text.includes(form) ? [`${name}, form ${index}`] : [])),
  );
}

async function filesBelow(directory: string): Promise<readonly { file: string; text: string }[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => ({ file: name, text: await readFile(join(parentPath, name), "latin1") })),
  );
}

/** Refuses every request, and says in its answer what it was sent. */
async function startTelltale() {
  const server = createServer((request, response) => {
    response.writeHead(500).end(`refused ${JSON.stringify(request.headers)} ${request.headers["x-key"] as string}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://ada:${secrets.password}@127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, [Symbol.asyncDispose]: async () => await closeServer(server) };
}

async function keepLogin(directory: string, serverUrl: string): Promise<void> {
  const vault = createTokenVault({ directory: join(directory, "data"), key: {} });
  await vault.write(
    "vault",
    serializeCredential({
      loginId: "login",
      serverUrl,
      resource: serverUrl,
      issuer: "http://127.0.0.1:9",
      tokenEndpoint: "http://127.0.0.1:9/token",
      revocationEndpoint: undefined,
      client: { id: "client", secret: secrets.client, auth: "client_secret_post" },
      scope: undefined,
      tokens: { access: secrets.access, refresh: secrets.refresh, obtainedAtMs: Date.now(), expiresAtMs: undefined },
    }),
  );
}

/** What a server may make of a secret that it knows, line by line. */
function linesWith(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify({ say: secret }),
    encodeURIComponent(secret),
    new URLSearchParams({ say: secret }).toString(),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...["", "x", "xx"].map((before) => Buffer.from(`${before}${secret}, more`).toString("base64")),
    Buffer.from(`user:${secret}`).toString("base64url"),
    // The gateway cuts lines after 4,096 bytes; the server cuts this one by itself.
    `${"-".repeat(4_096 - 10)}${secret}`,
    `the end ${secret.slice(0, 9)}`,
  ];
}

test("FAULT J: no secret is in any output or file, in no form, whatever servers make of them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-canary-"));
  await using telltale = await startTelltale();
  await using locked = await startProtectedServer({
    issuer: () => "http://127.0.0.1:9",
    accepts: async (token) => token === secrets.access,
  });
  await keepLogin(directory, locked.url);
  const gateway = await startFaulty({
    directory,
    servers: {
      talks: { ...badServer(), env: { TOKEN: secrets.env }, requestLogging: "full" },
      telltale: { type: "http", url: telltale.url, headers: { "X-Key": secrets.header } },
      vault: { type: "http", url: locked.url },
    },
    args: ["--log-level", "debug"],
  });
  const shown: string[] = [];
  const keep = (what: unknown): void => void shown.push(typeof what === "string" ? what : JSON.stringify(what));
  try {
    await untilOnline(gateway, "talks");
    // The login is known from when it was used first.
    await untilOnline(gateway, "vault");
    let told = 0;
    for (const secret of [secrets.env, secrets.header, secrets.access, secrets.refresh, secrets.client]) {
      told += 1;
      const text = [...linesWith(secret), `told ${told}`].join("\n");
      const { argument: password } = secrets;
      // Of a server that writes too much lines are dropped: it says it again until they were taken.
      await until(async () => {
        keep(await execute(gateway.url, "talks:stderr", { text, password, deep: { api_key: password } }));
        return gateway.logged(`told ${told}`).length > 0;
      });
    }
    keep((await run(gateway.url, "talks:stderr", { text: "over REST", token: secrets.argument })).text);
    keep((await run(gateway.url, "talks:no-such-tool", { password: secrets.argument })).text);
    keep(await execute(gateway.url, "telltale:x", { password: secrets.argument }));
    keep(await execute(gateway.url, "vault:no-such-tool", { authorization: secrets.argument }));
    keep((await post(`${gateway.url}/mcp`, `{"password":"${secrets.argument.slice(0, 16)}`)).text);
    keep(await execute(gateway.url, "talks:exit", { code: 7 }));
    keep(await discover(gateway, { query: "" }));
    const { json } = await get(`${gateway.url}/api/instances`);
    keep(json);
    for (const path of [
      "/api/servers",
      "/api/instances/talks",
      "/api/instances/telltale",
      "/metrics",
      "/readyz",
      "/api/debug",
    ])
      keep((await get(`${gateway.url}${path}`)).text);
    expect(found(shown.join("\n"))).toEqual([]);
    expect(found(gateway.stdout())).toEqual([]);
    expect(gateway.stderr()).toContain("[redacted]");
  } finally {
    await gateway.endsClean();
    expect(found(gateway.stderr())).toEqual([]);
    // What servers are started with is in the configuration, which people write; the vault is encrypted.
    const files = await filesBelow(join(gateway.directory, "data"));
    const records = files.filter(({ file }) => file.startsWith("records.db")).map(({ text }) => text);
    expect(records.join("")).toContain("[redacted]");
    for (const { file, text } of files) expect({ file, found: found(text) }).toEqual({ file, found: [] });
    await gateway[Symbol.asyncDispose]();
  }
}, 90_000);
