import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linkTo } from "./dashboard.ts";
import { mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { send } from "../harness/rpc.ts";

interface LoggedIn {
  readonly cookie: string;
  readonly key: string;
  readonly id: string;
  readonly setCookie: string;
}

const json = { "content-type": "application/json" };

async function logIn(gateway: RunningGateway, headers: Record<string, string> = {}): Promise<LoggedIn> {
  const [, code] = linkTo(gateway).split("#code=");
  const answer = await send(`${gateway.url}/api/session`, {
    headers: { ...json, ...headers },
    body: JSON.stringify({ code }),
  });
  expect(answer.status).toBe(200);
  const setCookie = String(answer.headers["set-cookie"]);
  return {
    cookie: setCookie.split(";", 1)[0] ?? "",
    key: String(answer.json.key),
    id: String(answer.json.id),
    setCookie,
  };
}

test("a session of the dashboard is an admin's, and not the owner's, who comes by the socket only", async () => {
  const tokenHash = `sha256:${createHash("sha256").update("token").digest("hex")}`;
  await using gateway = await startGateway({ config: { mcpServers: {}, toolyard: { auth: { tokenHash } } } });
  const session = await logIn(gateway);
  const headers = { ...json, ...proofOf(session) };
  const order = async (method: string, path: string, body: object) =>
    await send(`${gateway.url}${path}`, { method, headers, body: JSON.stringify(body) });
  expect((await send(`${gateway.url}/api/config`, { method: "GET", headers })).status).toBe(200);
  for (const [method, path, body] of [
    ["PUT", "/api/system/backup", { path: join(tmpdir(), "stolen.db") }],
    ["POST", "/api/dashboard-links", {}],
  ] as const) {
    const { status, json: said } = await order(method, path, body);
    expect([path, status, said.code]).toEqual([path, 403, "FORBIDDEN"]);
  }
});

const proofOf = ({ cookie, key }: LoggedIn) => ({ cookie, "toolyard-key": key });

describe("the session of a browser", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ config: { mcpServers: {} } });
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  const ask = async (path: string, headers: Record<string, string>, method = "GET", body?: string) =>
    await send(`${gateway.url}${path}`, {
      method,
      headers: { ...(method === "GET" ? {} : json), ...headers },
      ...(body === undefined ? {} : { body }),
    });

  test("a link logs one browser in, once", async () => {
    const link = linkTo(gateway);
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ui\/#code=[\w-]{43}$/);
    const body = JSON.stringify({ code: link.split("#code=")[1] });
    expect((await ask("/api/session", {}, "POST", body)).status).toBe(200);
    const again = await ask("/api/session", {}, "POST", body);
    expect([again.status, again.json.code]).toEqual([401, "UNAUTHORIZED"]);
    expect(again.json.hint).toContain("toolyard open");
  });

  test("FAULT 38: the cookie has the prefix __Host-, Secure, HttpOnly and SameSite=Strict, and is worth nothing alone", async () => {
    const session = await logIn(gateway);
    const port = new URL(gateway.url).port;
    expect(session.setCookie).toMatch(new RegExp(`^__Host-toolyard-${port}=[\\w-]{43}; Path=/; `));
    for (const part of ["Secure", "HttpOnly", "SameSite=Strict"]) expect(session.setCookie).toContain(`; ${part}`);
    expect(session.setCookie).not.toContain("Domain");
    const status = async (headers: Record<string, string>) => (await ask("/api/session", headers)).status;
    expect(await status(proofOf(session))).toBe(200);
    expect(await status({ cookie: session.cookie })).toBe(401);
    expect(await status({ "toolyard-key": session.key })).toBe(401);
    expect(await status({ cookie: `${session.cookie}x`, "toolyard-key": session.key })).toBe(401);
    expect(await status({ cookie: `${session.cookie}; ${session.cookie}`, "toolyard-key": session.key })).toBe(401);
    const other = await logIn(gateway);
    expect(await status({ cookie: other.cookie, "toolyard-key": session.key })).toBe(401);
  });

  test("FAULT 34: a page of another port or site does nothing with a session, and cannot begin one", async () => {
    const session = await logIn(gateway);
    const foreign = [
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
      { origin: "https://evil.com" },
    ];
    for (const headers of foreign) {
      expect((await ask("/api/session", { ...proofOf(session), ...headers })).status).toBe(403);
      expect((await ask("/api/config", { ...proofOf(session), ...headers }, "PUT", '{"text":"{}"}')).status).toBe(403);
      expect((await ask("/api/session", headers, "POST", '{"code":"x"}')).status).toBe(403);
    }
    const own = { "sec-fetch-site": "same-origin", origin: gateway.url };
    expect((await ask("/api/session", { ...proofOf(session), ...own })).status).toBe(200);
  });

  test("where nobody needs a credential, the configuration can be neither read nor changed without it", async () => {
    const attempts = [
      ["GET", "/api/config"],
      ["PUT", "/api/config"],
      ["POST", "/api/config/check"],
      ["GET", "/api/sessions"],
      ["DELETE", "/api/sessions/x"],
      ["GET", "/api/clients"],
      ["POST", "/api/clients/cursor/connect"],
      ["POST", "/api/import"],
      ["POST", "/api/servers"],
      ["DELETE", "/api/servers/x"],
      ["POST", "/api/servers/x/enable"],
      ["GET", "/api/doctor"],
      ["GET", "/api/support"],
    ] as const;
    const body = '{"text":"{}","command":["true"],"name":"x"}';
    for (const [method, path] of attempts) {
      const answer = await ask(path, { "if-match": "x" }, method, method === "GET" ? undefined : body);
      expect([path, answer.status, answer.json.code]).toEqual([path, 403, "FORBIDDEN"]);
    }
    // What everybody could do before, everybody can do still.
    expect((await ask("/api/status", {})).status).toBe(200);
  });

  test("the owner sees who is logged in, and logs others and this browser out", async () => {
    const [one, other] = [
      await logIn(gateway, { "user-agent": "One" }),
      await logIn(gateway, { "user-agent": "Other" }),
    ];
    const list = async () =>
      (await ask("/api/sessions", proofOf(one))).json.browsers as { id: string; isThis: boolean; browser: string }[];
    expect((await list()).find(({ id }) => id === other.id)).toMatchObject({ browser: "Other", isThis: false });
    expect((await list()).find(({ id }) => id === one.id)).toMatchObject({ browser: "One", isThis: true });
    expect((await ask(`/api/sessions/${other.id}`, proofOf(one), "DELETE")).json).toEqual({ ended: true });
    expect((await ask("/api/session", proofOf(other))).status).toBe(401);
    const out = await ask("/api/session", proofOf(one), "DELETE");
    expect(String(out.headers["set-cookie"])).toContain("Max-Age=0");
    expect((await ask("/api/session", proofOf(one))).status).toBe(401);
  });

  test("a page of this origin with a session may not be cached, and its answers are for it alone", async () => {
    const session = await logIn(gateway);
    for (const path of ["/api/session", "/api/sessions", "/api/config"])
      expect((await ask(path, proofOf(session))).headers["cache-control"]).toBe("no-store");
  });
});

test("a session outlives the gateway, which keeps only hashes of it, readable by its owner only", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-session-"));
  try {
    const first = await startGateway({ config: { mcpServers: {} }, directory });
    const port = new URL(first.url).port;
    const session = await logIn(first);
    await first.stop();
    const files = await readdir(join(directory, "data"), { recursive: true });
    const file = join(directory, "data", files.find((name) => name.endsWith("browser-sessions.json")) ?? "");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, "utf8");
    const secret = session.cookie.split("=")[1] ?? "";
    expect(text).not.toContain(secret);
    expect(text).not.toContain(session.key);
    expect(text).toContain(createHash("sha256").update(session.key).digest("hex"));
    await using second = await startGateway({ config: { mcpServers: {} }, directory, args: ["--port", port] });
    expect((await send(`${second.url}/api/session`, { method: "GET", headers: proofOf(session) })).status).toBe(200);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a token logs in as whoever it belongs to, for as long as it is valid; only an admin may manage", async () => {
  const tokens = ["admin", "reader"].map((name) => ({ name, token: `ty_${name.repeat(8)}` }));
  const hashOf = (token: string) => `sha256:${createHash("sha256").update(token).digest("hex")}`;
  const principals = Object.fromEntries(
    tokens.map(({ name, token }) => [name, { tokenHash: hashOf(token), roles: name === "admin" ? ["admin"] : [] }]),
  );
  await using gateway = await startGateway({ config: { mcpServers: {}, toolyard: { principals } } });
  const enter = async (token: string) => {
    const answer = await send(`${gateway.url}/api/session`, { headers: json, body: JSON.stringify({ token }) });
    const cookie = String(answer.headers["set-cookie"]).split(";", 1)[0] ?? "";
    return { status: answer.status, json: answer.json, proof: { cookie, "toolyard-key": String(answer.json.key) } };
  };
  const [admin, reader] = [await enter(tokens[0]?.token ?? ""), await enter(tokens[1]?.token ?? "")];
  expect(admin.json).toMatchObject({ principal: "admin", mayManage: true });
  expect(reader.json).toMatchObject({ principal: "reader", mayManage: false });
  expect((await enter("ty_wrong")).status).toBe(401);
  const config = async (headers: Record<string, string>) =>
    (await send(`${gateway.url}/api/config`, { method: "GET", headers })).status;
  expect(await config(admin.proof)).toBe(200);
  expect(await config(reader.proof)).toBe(403);
  // However often somebody logs in, it is their own browsers that are logged out for it.
  for (let index = 0; index < 10; index += 1) expect((await enter(tokens[1]?.token ?? "")).status).toBe(200);
  expect([await config(admin.proof), await config(reader.proof)]).toEqual([200, 401]);
  // An admin's token needs no browser.
  expect(await config({ authorization: `Bearer ${tokens[0]?.token ?? ""}` })).toBe(200);
  expect(await config({ authorization: `Bearer ${tokens[1]?.token ?? ""}` })).toBe(403);
});

test("`toolyard open` says what to do when no gateway runs", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-open-"));
  try {
    const args = [mainFile, "open", "--print", "--data-dir", directory];
    expect(() => execFileSync(process.execPath, args, { stdio: "pipe", cwd: directory })).toThrow(/no gateway runs/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
