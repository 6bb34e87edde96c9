import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serializeCredential } from "../../../src/servers/logins/credential.ts";
import { createTokenVault } from "../../../src/store/files/token-vault.ts";
import { runCommand } from "../../harness/command.ts";
import { badServer } from "../../harness/gateway.ts";
import { get, post, run } from "../../harness/rest.ts";
import { execute } from "../../harness/rpc.ts";
import { startTraceCollector } from "../../harness/trace-collector.ts";
import { until } from "../../harness/until.ts";
import { closeServer } from "../../oauth/authorization-server.ts";
import { startProtectedServer } from "../../oauth/mcp-server.ts";
import { readEvents } from "../../records/event-reader.ts";
import { startWebhookReceiver, webhookSettings } from "../../records/webhook-receiver.ts";
import { discover, startFaulty, untilOnline } from "../servers/faulty-gateway.ts";

/** None of these letters is one of a hexadecimal number, of which outputs are full: nothing is found by chance. */
function letters(bytes: number): string {
  return randomBytes(bytes)
    .toString("hex")
    .replaceAll(/./g, (digit) => "ghijklmnopqrstuv".charAt(Number.parseInt(digit, 16)));
}

/** Its beginning is random as well, so that it can be looked for; the rest looks different in every form. */
function canary(): string {
  return `${letters(8)} +/?"=~`;
}

const secrets = {
  env: canary(),
  header: canary(),
  password: canary().slice(0, 16),
  argument: canary(),
  access: letters(24),
  refresh: letters(24),
  client: letters(24),
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

/** Everything that REST says of what happened, in all forms that it has. */
async function readRecords(url: string): Promise<readonly string[]> {
  const lists = ["calls?limit=1000", "logs?limit=1000", "audit?limit=1000"];
  const { json } = await get(`${url}/api/calls?limit=1000`);
  const { calls } = json as { readonly calls: readonly { readonly id: string }[] };
  const said = await Promise.all([
    ...["application/json", "application/x-ndjson", "text/csv"].flatMap((accept) =>
      lists.map(async (list) => await get(`${url}/api/${list}`, { accept })),
    ),
    ...calls.map(async ({ id }) => await get(`${url}/api/calls/${id}`)),
    ...["usage?by=tool,code", "usage/tokens", "status", "instances/talks/logs", "resources", "openapi.json"].map(
      async (path) => await get(`${url}/api/${path}`),
    ),
  ]);
  // Arguments and results of what is logged in full are among them.
  expect(said.some(({ text }) => text.includes('\\"password\\":\\"[redacted]\\"'))).toBe(true);
  return said.map(({ text }) => text);
}

/** What the commands print of the same. */
async function readCommands(configFile: string, directory: string): Promise<readonly string[]> {
  const place = ["--config", configFile, "--data-dir", join(directory, "data")];
  const commands = [["status"], ["calls"], ["logs"], ["tokens"], ["audit"], ["servers"], ["audit", "export"]];
  const printed: string[] = [];
  for (const words of commands)
    for (const form of words[1] === "export" ? [["--format", "csv"], []] : [["--json"], []]) {
      const { code, stdout, stderr } = await runCommand([...words, ...form, ...place]);
      expect([words, code, stderr]).toEqual([words, 0, expect.any(String)]);
      printed.push(stdout, stderr);
    }
  return printed;
}

test("FAULT J: no secret is in any output or file, in no form, whatever servers make of them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-canary-"));
  await using receiver = await startWebhookReceiver();
  await using collector = await startTraceCollector();
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
    settings: { events: webhookSettings(receiver) },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "50" },
  });
  const reader = await readEvents(`${gateway.url}/api/events`);
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
    await get(`${gateway.url}/api/servers?access_token=${secrets.argument.slice(0, 16)}`);
    shown.push(...(await readRecords(gateway.url)), ...(await readCommands(gateway.configFile, directory)));
    expect(found(shown.join("\n"))).toEqual([]);
    expect(found(gateway.stdout())).toEqual([]);
    expect(reader.text()).toContain("told 5");
    expect(found(reader.text())).toEqual([]);
    expect(gateway.stderr()).toContain("[redacted]");
  } finally {
    await gateway.endsClean();
    reader.close();
    expect(found(gateway.stderr())).toEqual([]);
    const delivered = receiver.deliveries.map(({ body }) => body).join("\n");
    expect(delivered).toContain("[redacted]");
    expect(found(delivered)).toEqual([]);
    expect(collector.spans.map(({ name }) => name)).toContain("tools/call talks:stderr");
    expect(found(Buffer.concat(collector.bytes).toString("latin1"))).toEqual([]);
    // What servers are started with is in the configuration, which people write; the vault is encrypted.
    const files = await filesBelow(join(gateway.directory, "data"));
    const records = files.filter(({ file }) => file.startsWith("records.db")).map(({ text }) => text);
    expect(records.join("")).toContain("[redacted]");
    for (const { file, text } of files) expect({ file, found: found(text) }).toEqual({ file, found: [] });
    await gateway[Symbol.asyncDispose]();
  }
}, 300_000);
