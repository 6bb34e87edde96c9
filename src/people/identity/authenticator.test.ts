import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import type { Config, Person, Settings } from "../../config/config.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { createConfigDirectory } from "../directory/config-directory.ts";
import type { Directory } from "../directory/directory.ts";
import { createAuthenticator, type Authenticator } from "./authenticator.ts";
import { createLookUp } from "./look-ups.ts";
import { createToken } from "./token.ts";

const [one, two, three] = [createToken(), createToken(), createToken()];

function configOf(people: Readonly<Record<string, Partial<Person>>>, tokenHashes: readonly string[] = []): Config {
  const principals = Object.entries(people).map(
    ([id, person]) =>
      [
        id,
        { id: id as PrincipalId, team: null, tokenHashes: [], roles: ["member"], servers: new Map(), ...person },
      ] as const,
  );
  const auth = { tokenHashes, insecure: false, allowTokenInUrl: false };
  const settings = { auth, profiles: {} } as unknown as Settings;
  return {
    file: undefined,
    servers: [],
    settings,
    people: { principals: new Map(principals), teams: new Map() },
    warnings: [],
  };
}

const requestWith = (token: string, socket = new EventEmitter()): IncomingMessage =>
  ({
    socket,
    headers: { authorization: `Bearer ${token}` },
    rawHeaders: ["Authorization", `Bearer ${token}`],
  }) as unknown as IncomingMessage;

const authenticatorOf = (directory: Directory): Authenticator =>
  createAuthenticator(
    directory,
    createLookUp(directory, () => undefined),
  );

test("without tokens everybody is the local principal, until there is one", () => {
  const directory = createConfigDirectory(configOf({}));
  const authenticator = authenticatorOf(directory);
  expect(authenticator.authenticate(requestWith("x"))).toBe(localPrincipal);
  directory.follow(configOf({}, [one.hash]));
  expect(directory.isCurrent(localPrincipal)).toBe(false);
  expect(authenticator.authenticate(requestWith(one.token))).toMatchObject({ id: "local", roles: ["admin"] });
  expect(() => authenticator.authenticate(requestWith(two.token))).toThrow(
    expect.objectContaining({ code: "UNAUTHORIZED" }) as Error,
  );
});

test("FAULT 98: who loses a token, a role or a team is another principal, though of the same name; a token more changes nothing", () => {
  const afterwards = (people: Readonly<Record<string, Partial<Person>>>): boolean => {
    const directory = createConfigDirectory(configOf({ alice: { tokenHashes: [one.hash] } }));
    const alice = authenticatorOf(directory).authenticate(requestWith(one.token)) as Principal;
    expect(directory.isCurrent(alice)).toBe(true);
    directory.follow(configOf(people));
    return directory.isCurrent(alice);
  };
  const after = (alice: Partial<Person>): boolean => afterwards({ alice });
  expect(after({ tokenHashes: [one.hash] })).toBe(true);
  expect(after({ tokenHashes: [one.hash, two.hash] })).toBe(true);
  expect(after({ tokenHashes: [two.hash] })).toBe(false);
  expect(after({ tokenHashes: [one.hash], roles: ["guest"] })).toBe(false);
  expect(after({ tokenHashes: [one.hash], team: "acme" })).toBe(false);
  expect(afterwards({ bob: { tokenHashes: [three.hash] } })).toBe(false);
});

test("somebody without a token cannot come, and closes the door for others without one", () => {
  const authenticator = authenticatorOf(createConfigDirectory(configOf({ alice: {} })));
  expect(authenticator.open).toBe(false);
  expect(() => authenticator.authenticate(requestWith(""))).toThrow("token");
});

test("FAULT 98: what a connection showed before opens nothing: each request is who its own token says now", () => {
  const directory = createConfigDirectory(
    configOf({ alice: { tokenHashes: [one.hash] }, bob: { tokenHashes: [two.hash] } }),
  );
  const authenticator = authenticatorOf(directory);
  const socket = new EventEmitter();
  const idOf = (token: string): string => {
    try {
      return (authenticator.authenticate(requestWith(token, socket)) as Principal).id;
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  };
  const both = [one.token, one.token, two.token, one.token, `${one.token} `, three.token, two.token];
  expect(both.map(idOf)).toEqual(["alice", "alice", "bob", "alice", "UNAUTHORIZED", "UNAUTHORIZED", "bob"]);
  // A second header beside the same one is refused as it is on a new connection.
  const twice = requestWith(two.token, socket);
  twice.rawHeaders.push("AUTHORIZATION", `Bearer ${one.token}`);
  expect(() => authenticator.authenticate(twice)).toThrow("bearer token");
  directory.follow(configOf({ alice: { tokenHashes: [one.hash] }, bob: { tokenHashes: [three.hash] } }));
  expect([two.token, three.token, one.token].map(idOf)).toEqual(["UNAUTHORIZED", "bob", "alice"]);
});

test("a token that no token can look like is not asked about elsewhere", () => {
  const asked: string[] = [];
  const authenticator = authenticatorOf({
    ...createConfigDirectory(configOf({ alice: { tokenHashes: [one.hash] } })),
    open: false,
    foreign: async (token) => {
      asked.push(token);
      return await Promise.resolve(undefined);
    },
  });
  for (const token of ["two words", "tab\t", "\u00fcber", ""])
    expect(() => authenticator.authenticate(requestWith(token))).toThrow("bearer token");
  expect(asked).toEqual([]);
});

test("who is at hand is answered without a promise, though others have to be asked for", async () => {
  const asked: string[] = [];
  const bob: Principal = {
    id: "bob" as PrincipalId,
    team: null,
    roles: ["member"],
    scopes: [],
    user: null,
    via: "config",
  };
  const directory: Directory = {
    ...createConfigDirectory(configOf({ alice: { tokenHashes: [one.hash] } })),
    open: false,
    isCurrent: () => true,
    elsewhere: {
      byToken: async (hash) => {
        asked.push(hash);
        return await Promise.resolve(`sha256:${hash}` === two.hash ? bob : undefined);
      },
      byId: async () => await Promise.resolve(undefined),
    },
  };
  const { authenticate } = authenticatorOf(directory);
  expect(authenticate(requestWith(one.token))).toMatchObject({ id: "alice" });
  expect(asked).toEqual([]);
  await expect(authenticate(requestWith(two.token))).resolves.toBe(bob);
  await expect(authenticate(requestWith(three.token))).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  // No token at all: nobody is asked for.
  expect(() => authenticate(requestWith(""))).toThrow("token");
  expect(asked).toHaveLength(2);
});

test("a look-up ends when its client goes, and whoever was removed meanwhile is not let in", async () => {
  const signals: AbortSignal[] = [];
  let answer: (principal: Principal) => void = () => undefined;
  let isCurrent = true;
  const directory: Directory = {
    ...createConfigDirectory(configOf({ alice: {} })),
    open: false,
    isCurrent: () => isCurrent,
    elsewhere: {
      byToken: async (_hash, signal) => {
        signals.push(signal);
        return await new Promise((resolve) => {
          answer = resolve;
        });
      },
      byId: async () => await Promise.resolve(undefined),
    },
  };
  const { authenticate } = authenticatorOf(directory);
  const socket = new EventEmitter();
  const left = authenticate(requestWith(one.token, socket));
  socket.emit("close");
  await expect(left).rejects.toMatchObject({ code: "CALL_CANCELLED" });
  expect([signals[0]?.aborted, socket.listenerCount("close")]).toEqual([true, 0]);

  const removed = authenticate(requestWith(one.token));
  isCurrent = false;
  answer(localPrincipal);
  await expect(removed).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});

test("no more than a thousand requests wait for the directory at once", async () => {
  const directory: Directory = {
    ...createConfigDirectory(configOf({ alice: {} })),
    open: false,
    elsewhere: {
      byToken: async () => await new Promise(() => undefined),
      byId: async () => await Promise.resolve(undefined),
    },
  };
  const { authenticate } = authenticatorOf(directory);
  const socket = new EventEmitter().setMaxListeners(0);
  const waiting = Array.from({ length: 1_000 }, async () => await authenticate(requestWith(one.token, socket)));
  await expect(authenticate(requestWith(one.token))).rejects.toMatchObject({ code: "DIRECTORY_UNAVAILABLE" });
  socket.emit("close");
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(Array(1_000).fill("rejected"));
});
