import { expect, test } from "vitest";
import { otherBuildCode, isLoadFailure } from "../runtime/late-module.ts";
import { createPresence, programOf, readClientName } from "../client-presence.ts";
import { localPrincipal } from "../principal.ts";
import { createTypeFilter, publishedTypes, typesMatching } from "./published-events.ts";

test("a pattern means one type, or all with its beginning, or none", () => {
  expect(typesMatching("config.changed")).toEqual(["config.changed"]);
  expect(typesMatching("config.*")).toEqual(["config.changed", "config.refused", "config.mended"]);
  expect(typesMatching("*")).toEqual(publishedTypes);
  for (const none of ["config", "config.", "", "CONFIG.*", "*.changed", "server.notification"])
    expect([none, typesMatching(none)]).toEqual([none, []]);
});

test("without patterns every event passes, with patterns those they mean, with an empty list none", () => {
  const some = createTypeFilter(["auth.*", "search.done", "nothing"]);
  expect(publishedTypes.filter(some)).toEqual([
    "search.done",
    "auth.denied",
    "auth.login",
    "auth.token.issued",
    "auth.token.revoked",
  ]);
  expect(publishedTypes.filter(createTypeFilter(undefined))).toEqual(publishedTypes);
  expect(publishedTypes.filter(createTypeFilter([]))).toEqual([]);
});

test("a client's name is text, cut at 100 characters, or there is none", () => {
  expect(readClientName({ name: "editor", version: "1" })).toBe("editor");
  expect(readClientName({ name: "x".repeat(1_000) })).toBe("x".repeat(100));
  for (const info of [undefined, null, "editor", [], {}, { name: 5 }]) expect(readClientName(info)).toBeUndefined();
});

test("programs of different names, ways and principals are different, whatever their names contain", () => {
  const other = { ...localPrincipal, id: 'local","session' as typeof localPrincipal.id };
  const programs = [
    programOf(localPrincipal, "session", "a"),
    programOf(localPrincipal, "streams", "a"),
    programOf(localPrincipal, "session", 'a"'),
    programOf(localPrincipal, "session", undefined),
    programOf(localPrincipal, "session", "null"),
    programOf(other, "session", "a"),
  ];
  expect(new Set(programs).size).toBe(programs.length);
  expect(programOf(localPrincipal, "session", "a")).toBe(programs[0]);
  expect(createPresence("p", 5)).toEqual({ program: "p", sinceMs: 5, state: "open", lapsedAtMs: undefined });
});

test("code that is missing, half-written or of another build is told from code that fails", async () => {
  const file = "file:///no/such/module.mjs";
  const missing = await import(file).catch((error: unknown) => error);
  expect(isLoadFailure(missing)).toBe(true);
  expect(isLoadFailure(new SyntaxError("half a file"))).toBe(true);
  expect(isLoadFailure(Object.assign(new Error("x"), { code: otherBuildCode }))).toBe(true);
  for (const failed of [new TypeError("x"), Object.assign(new Error("x"), { code: "EACCES" }), "ENOENT", undefined])
    expect(isLoadFailure(failed)).toBe(false);
});
