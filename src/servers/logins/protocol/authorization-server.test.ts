import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { browse, logInAt } from "../../../../test/oauth/odd-login.ts";
import { startOddServer, type OddAnswers } from "../../../../test/oauth/odd-server.ts";

test("a registered secret is used as the registration says, and as the authorization server takes it", async () => {
  const registration = (wanted: object): object => ({ ...wanted, client_id: "c", client_secret: "s" });
  const methods = ["client_secret_post"];
  await using server = await startOddServer({
    registration,
    metadata: () => ({ token_endpoint_auth_methods_supported: methods }),
  });
  const { client } = await logInAt(server);
  expect(client).toEqual({ id: "c", secret: "s", auth: "client_secret_post" });
  const [registered, redeemed] = ["/register", "/token"].map((wanted) =>
    server.asked.find(({ path }) => path === wanted),
  );
  expect(JSON.parse(registered?.body ?? "")).toMatchObject({ token_endpoint_auth_method: "client_secret_post" });
  expect(Object.fromEntries(new URLSearchParams(redeemed?.body))).toMatchObject({ client_id: "c", client_secret: "s" });
});

test("the code is redeemed with the verifier whose hash the browser took along, and for the resource", async () => {
  await using server = await startOddServer();
  let opened = new URLSearchParams();
  await logInAt(server, {
    scope: "read",
    open(url) {
      opened = new URL(url).searchParams;
      void browse(url);
    },
  });
  const redeemed = new URLSearchParams(server.asked.find(({ path }) => path === "/token")?.body);
  const hash = createHash("sha256")
    .update(redeemed.get("code_verifier") ?? "")
    .digest("base64url");
  expect(Object.fromEntries(opened)).toMatchObject({
    ...{ response_type: "code", client_id: "c", code_challenge: hash, code_challenge_method: "S256", scope: "read" },
    resource: server.url,
  });
  expect(Object.fromEntries(redeemed)).toMatchObject({
    ...{ grant_type: "authorization_code", code: "code", client_id: "c", resource: server.url },
    redirect_uri: opened.get("redirect_uri"),
  });
});

describe("authorization servers", () => {
  /** Nothing listens there any more. */
  const closed = async (): Promise<string> => {
    await using server = await startOddServer();
    return server.origin;
  };
  const failing: OddAnswers = {
    intercept(_path, response) {
      response.writeHead(503).end();
      return true;
    },
  };

  test("the second one that a resource names is used where the first is down", async () => {
    const gone = await closed();
    await using busy = await startOddServer(failing);
    await using good = await startOddServer();
    for (const first of [gone, busy.origin]) {
      await using server = await startOddServer({ resource: () => ({ authorization_servers: [first, good.origin] }) });
      expect((await logInAt(server)).issuer).toBe(good.origin);
    }
  });

  test("three are tried at most, and the failure is that of the first", async () => {
    const gone = await closed();
    await using good = await startOddServer();
    await using server = await startOddServer({
      resource: () => ({ authorization_servers: [gone, gone, gone, good.origin] }),
    });
    await expect(logInAt(server)).rejects.toThrow(`${gone} cannot be reached`);
    expect(good.asked).toEqual([]);
  });

  test("a client that was registered at the first one is shown to no other", async () => {
    await using busy = await startOddServer(failing);
    await using good = await startOddServer();
    await using server = await startOddServer({
      resource: () => ({ authorization_servers: [busy.origin, good.origin] }),
    });
    const client = { id: "mine", secret: "s3cret" };
    await expect(logInAt(server, { client })).rejects.toThrow(`${busy.origin} answered with HTTP 503`);
    expect(good.asked).toEqual([]);
  });

  test("its metadata are found at a later place, behind pages and answers that say something else", async () => {
    await using server = await startOddServer({
      intercept(path, response) {
        if (path === "/.well-known/oauth-authorization-server") response.end("<!doctype html>");
        else if (path === "/.well-known/openid-configuration")
          response.writeHead(200, { "content-type": "text/plain" }).end(`\uFEFF${JSON.stringify(openId())}`);
        else return false;
        return true;
      },
    });
    const openId = (): object => ({
      issuer: server.origin,
      authorization_endpoint: `${server.origin}/authorize`,
      token_endpoint: `${server.origin}/token`,
      registration_endpoint: `${server.origin}/register`,
      code_challenge_methods_supported: ["S256"],
    });
    expect((await logInAt(server)).tokens.access).toBe("t1");
  });

  test("a resource that names none, on a server that publishes nothing, is logged in to at the places of 2025-03-26", async () => {
    await using server = await startOddServer({
      resource: () => ({ authorization_servers: null }),
      intercept: (path, response) => {
        const isMetadata = /oauth-authorization-server|openid-configuration/.test(path);
        if (isMetadata) response.writeHead(404).end();
        return isMetadata;
      },
    });
    expect(await logInAt(server)).toMatchObject({ issuer: server.origin, tokenEndpoint: `${server.origin}/token` });
  });
});
