import { expect, test } from "vitest";
import { clientRequest, createLegacyFront } from "../../../../test/harness/legacy-front.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import type { Caller, ReplyBody } from "../caller.ts";
import { joinText } from "../answers/result-text.ts";
import { createSessionMethods } from "./session-methods.ts";

const never = new AbortController().signal;

/** A legacy client with a session, or without one, which calls methods one after the other. */
function create(withSession = true) {
  const { deps, endpoint, done } = createLegacyFront();
  const options = { principal: localPrincipal, endpointPath: endpoint.path, revision: "2025-11-25", capabilities: {} };
  const session = withSession ? deps.sessions.create(options) : undefined;
  const via = "http";
  const client = { era: "legacy" as const, revision: "2025-11-25", capabilities: {} };
  const caller: Caller = { principal: localPrincipal, endpoint, client, via, session };
  const methods = createSessionMethods(deps);
  const call = async (method: string, params: object): Promise<string> => {
    const { body } = (await methods(clientRequest(method, params), caller, never)) as ReplyBody;
    return joinText(body);
  };
  return { call, methods, caller, session, done };
}

test("other methods are left to others", () => {
  const { methods, caller } = create();
  expect(methods(clientRequest("tools/call"), caller, never)).toBeUndefined();
  expect(methods(clientRequest("toString"), caller, never)).toBeUndefined();
});

test("a level is the session's, and the servers that the endpoint shows are told", async () => {
  const { call, session, done } = create();
  expect(await call("logging/setLevel", { level: "warning" })).toBe('"result":{}');
  expect(session?.logLevel).toBe("warning");
  expect(done).toEqual(["level warning of files, own of the client"]);
});

test("a level that does not exist is refused, and changes nothing", async () => {
  const { call, session, done } = create();
  expect(await call("logging/setLevel", { level: "loud" })).toContain('\\"loud\\" is no log level');
  expect([session?.logLevel, done]).toEqual([undefined, []]);
});

test("a resource is subscribed to once, and released once", async () => {
  const { call, session, done } = create();
  const uri = "files|a.txt";
  for (let times = 0; times < 2; times += 1) expect(await call("resources/subscribe", { uri })).toBe('"result":{}');
  expect([...(session?.watched.spellings ?? [])]).toEqual([["files\na.txt", uri]]);
  for (let times = 0; times < 2; times += 1) expect(await call("resources/unsubscribe", { uri })).toBe('"result":{}');
  expect(done).toEqual(["enter files", "subscribe files a.txt", "leave files", "release files a.txt"]);
});

test("on a server with an instance for each client it is the client's own that is subscribed to", async () => {
  const { call, done } = create();
  await call("resources/subscribe", { uri: "own|a.txt" });
  expect(done).toContain("subscribe own of the client a.txt");
});

test("what the session watches is released when it ends", async () => {
  const { call, session, done } = create();
  await call("resources/subscribe", { uri: "files|a.txt" });
  session?.close("over");
  expect(done.at(-1)).toBe("release files a.txt");
});

test.each([
  ["a resource of no server", { uri: "nobody|x" }, "no server has the resource nobody|x"],
  ["a resource that its server does not have", { uri: "files|missing" }, "the server has no such resource"],
  ["no URI", {}, "resources/subscribe needs params.uri, a string"],
])("%s cannot be subscribed to, and the instance is let go", async (_what, params, message) => {
  const { call, session, done } = create();
  expect(await call("resources/subscribe", params)).toContain(message);
  expect(session?.watched.size).toBe(0);
  expect(done.filter((one) => one.startsWith("enter")).length).toBe(
    done.filter((one) => one.startsWith("leave")).length,
  );
});

test("a session watches a bounded number of resources", async () => {
  const { call, session } = create();
  for (let count = 0; count < 1_000; count += 1) session?.watched.add(`${count}`, `${count}`, () => undefined);
  expect(await call("resources/subscribe", { uri: "files|a.txt" })).toContain("RATE_LIMITED");
});

test("without a session a level is taken and forgotten; a subscription has nobody to tell, and is refused", async () => {
  const { call, done } = create(false);
  expect(await call("logging/setLevel", { level: "error" })).toBe('"result":{}');
  expect(await call("resources/subscribe", { uri: "files|a.txt" })).toContain("a subscription needs a session");
  expect(await call("resources/unsubscribe", { uri: "files|a.txt" })).toBe('"result":{}');
  expect(done).toEqual([]);
});
