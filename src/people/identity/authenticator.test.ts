import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import type { Config, Person, Settings } from "../../config/config.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { createAuthenticator } from "./authenticator.ts";
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
  const settings = { auth: { tokenHashes, insecure: false, allowTokenInUrl: false } } as unknown as Settings;
  return {
    file: undefined,
    servers: [],
    settings,
    people: { principals: new Map(principals), teams: new Map() },
    warnings: [],
  };
}

const requestWith = (token: string): IncomingMessage =>
  ({
    headers: { authorization: `Bearer ${token}` },
    rawHeaders: ["Authorization", `Bearer ${token}`],
  }) as unknown as IncomingMessage;

test("without tokens everybody is the local principal, until there is one", () => {
  const open = createAuthenticator(configOf({}));
  expect(open.authenticate(requestWith("x"))).toBe(localPrincipal);
  const closed = createAuthenticator(configOf({}, [one.hash]), open);
  expect(closed.isCurrent(localPrincipal)).toBe(false);
  expect(closed.authenticate(requestWith(one.token))).toMatchObject({ id: "local", roles: ["admin"] });
  expect(() => closed.authenticate(requestWith(two.token))).toThrow(
    expect.objectContaining({ code: "UNAUTHORIZED" }) as Error,
  );
});

test("FAULT 98: who loses a token, a role or a team is another principal, though of the same name; a token more changes nothing", () => {
  const first = createAuthenticator(configOf({ alice: { tokenHashes: [one.hash] } }));
  const alice = first.authenticate(requestWith(one.token));
  const after = (person: Partial<Person>) => createAuthenticator(configOf({ alice: person }), first);
  expect(after({ tokenHashes: [one.hash] }).isCurrent(alice)).toBe(true);
  expect(after({ tokenHashes: [one.hash, two.hash] }).isCurrent(alice)).toBe(true);
  expect(after({ tokenHashes: [two.hash] }).isCurrent(alice)).toBe(false);
  expect(after({ tokenHashes: [one.hash], roles: ["guest"] }).isCurrent(alice)).toBe(false);
  expect(after({ tokenHashes: [one.hash], team: "acme" }).isCurrent(alice)).toBe(false);
  expect(createAuthenticator(configOf({ bob: { tokenHashes: [three.hash] } }), first).isCurrent(alice)).toBe(false);
});

test("somebody without a token cannot come, and closes the door for others without one", () => {
  const authenticator = createAuthenticator(configOf({ alice: {} }));
  expect(authenticator.open).toBe(false);
  expect(() => authenticator.authenticate(requestWith(""))).toThrow("token");
});
