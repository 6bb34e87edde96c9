import { describe, expect, test } from "vitest";
import type { Principal } from "../../kernel/principal.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { Services } from "../services.ts";
import { endpointOf, findInstance, findOwnInstance } from "./own-instance.ts";

const person = (id: string, ...roles: string[]) => ({
  id: id as PrincipalId,
  team: null,
  roles,
  scopes: [],
  user: null,
  via: "config" as const,
});
const instance = (id: string, owner: string | null): Instance => ({ id, owner }) as unknown as Instance;
const shared = instance("files", null);
const anns = instance("mail-ann", "ann");

/** With `manages`, whoever asks runs the team in which ann has her instance. */
function depsOf(isOpen = false, manages = false): Services {
  const instancesOf: Services["instancesOf"] = ({ id }) => (id === "ann" ? [shared, anns] : [shared]);
  const managedInstance: Services["managedInstance"] = (_principal, id) =>
    manages && id === "mail-ann" ? anns : undefined;
  return {
    isOpen: () => isOpen,
    instancesOf,
    managedInstance,
    publicUrl: () => "https://host/base",
  } as unknown as Services;
}

test("another person's instance cannot be told from one that does not exist, not even by an admin", () => {
  const failureOf = (id: string): unknown => {
    try {
      return findInstance(depsOf(), person("bob", "admin"), id);
    } catch (error) {
      return error;
    }
  };
  expect(failureOf("mail-ann")).toMatchObject({ code: "SERVER_UNKNOWN" });
  expect(failureOf("mail-ann")).toEqual(failureOf("no-such-thing"));
  expect(findInstance(depsOf(), person("ann"), "mail-ann")).toBe(anns);
});

describe("stopping an instance is allowed", () => {
  test("to its owner", () => expect(findOwnInstance(depsOf(), person("ann"), "mail-ann")).toBe(anns));

  test("to an admin where all use it, and to nobody else", () => {
    expect(findOwnInstance(depsOf(), person("bob", "admin"), "files")).toBe(shared);
    for (const roles of [[], ["user"], ["Admin"]])
      expect(() => findOwnInstance(depsOf(), person("bob", ...roles), "files")).toThrow(
        expect.objectContaining({ code: "FORBIDDEN" }),
      );
  });

  test("with the scope of a change where it is not one's own, and with that of a call where it is", () => {
    const caller = (id: string, ...roles: string[]): Principal => ({
      ...person(id, ...roles),
      scopes: ["mcp:read", "mcp:tools:execute"],
    });
    const refused = expect.objectContaining({ code: "SCOPE_INSUFFICIENT" }) as unknown;
    expect(() => findOwnInstance(depsOf(false, true), caller("tom", "team-admin"), "mail-ann")).toThrow(
      refused as Error,
    );
    expect(() => findOwnInstance(depsOf(), caller("bob", "admin"), "files")).toThrow(refused as Error);
    const able = { ...caller("tom", "team-admin"), scopes: ["mcp:admin"] };
    expect(findOwnInstance(depsOf(false, true), able, "mail-ann")).toBe(anns);
    expect(findOwnInstance(depsOf(false, true), caller("ann", "team-admin"), "mail-ann")).toBe(anns);
    expect(findOwnInstance(depsOf(), caller("ann"), "mail-ann")).toBe(anns);
  });

  test("to the only person of a gateway without credentials", () => {
    expect(findOwnInstance(depsOf(true), person("local"), "files")).toBe(shared);
  });
});

test("the address of an instance is one segment of a path, whatever its id has", () => {
  expect(endpointOf(instance("a/b@c?d", null), { base: "https://host/base" })).toEqual({
    endpoint: "/i/a%2Fb%40c%3Fd/mcp",
    url: "https://host/base/i/a%2Fb%40c%3Fd/mcp",
  });
});
