import { expect, test } from "vitest";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { permits, requireScope, scopeOf, wantedScope, type Scope } from "./scopes.ts";

const withScopes = (...scopes: string[]): Principal => ({ ...localPrincipal, scopes });

test("each scope includes those before it, and a credential without scopes permits what its roles do", () => {
  const rows: [string[], Scope[]][] = [
    [[], ["mcp:read", "mcp:tools:execute", "mcp:admin"]],
    [["mcp:read"], ["mcp:read"]],
    [["mcp:tools:execute"], ["mcp:read", "mcp:tools:execute"]],
    [["mcp:admin"], ["mcp:read", "mcp:tools:execute", "mcp:admin"]],
    [["offline_access", "mcp:read"], ["mcp:read"]],
  ];
  for (const [given, permitted] of rows)
    for (const needed of ["mcp:read", "mcp:tools:execute", "mcp:admin"] as const)
      expect([given, needed, permits(withScopes(...given), needed)]).toEqual([
        given,
        needed,
        permitted.includes(needed),
      ]);
});

test("a scope that means nothing here permits nothing", () => {
  for (const scope of ["offline_access", "mcp:*", "*", "MCP:READ", "mcp:read mcp:admin", ""])
    expect(permits(withScopes(scope), "mcp:read")).toBe(false);
});

test("looking needs less than doing, and what is forwarded unread counts as doing", () => {
  expect([scopeOf({ kind: "discover" }), scopeOf({ kind: "read" }), scopeOf({ kind: "kept" })]).toEqual(
    Array(3).fill("mcp:read"),
  );
  expect([scopeOf({ kind: "call" }), scopeOf({ kind: "forward" })]).toEqual(Array(2).fill("mcp:tools:execute"));
});

test("FAULT 101: a refusal names every scope that the operation needs", () => {
  expect(() => requireScope(withScopes("mcp:read"), "mcp:tools:execute")).toThrow(
    expect.objectContaining({
      code: "SCOPE_INSUFFICIENT",
      data: { scope: "mcp:read mcp:tools:execute" },
    }) as Error,
  );
  expect(() => requireScope(withScopes("mcp:admin"), "mcp:tools:execute")).not.toThrow();
  expect(wantedScope({ code: "FORBIDDEN", data: { scope: "mcp:read" } })).toBeUndefined();
});
