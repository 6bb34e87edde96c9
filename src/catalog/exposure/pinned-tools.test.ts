import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleStanding, sampleView } from "../../../test/sample-view.ts";
import { nearPaths, pinTools, readPins, unseenServers } from "./pinned-tools.ts";

const named = (...names: string[]) => names.map((name) => ({ name }));

function namesOf(view: Parameters<typeof readPins>[0], paths: readonly string[]) {
  return readPins(view, paths).map(({ found }) => found?.name);
}

test("a tool keeps its own name unless another pin, one of ours, or what clients accept forbids it", () => {
  const view = sampleView([
    sampleInstance("git", named("commit", "log", "execute_mcp_tool", "with space", "x".repeat(100))),
    sampleInstance("svn", named("commit", "list")),
  ]);
  expect(namesOf(view, ["git:log", "svn:list"])).toEqual(["log", "list"]);
  expect(namesOf(view, ["git:commit"])).toEqual(["commit"]);
  expect(namesOf(view, ["git:commit", "svn:commit"])).toEqual(["git-commit", "svn-commit"]);
  expect(namesOf(view, ["git:execute_mcp_tool"])).toEqual(["git-execute_mcp_tool"]);
  for (const name of namesOf(view, ["git:with space", `git:${"x".repeat(100)}`]))
    expect(name).toMatch(/^git-[A-Za-z0-9_-]{1,60}$/);
});

test("a tool that is called as another one's flat name stays apart from it", () => {
  const view = sampleView([
    sampleInstance("a", named("b-c", "c")),
    sampleInstance("a-b", named("c")),
    sampleInstance("x", named("a-c", "c")),
  ]);
  const paths = ["x:a-c", "a:c", "x:c", "a-b:c", "a:b-c"];
  const names = namesOf(view, paths);
  expect(new Set(names).size).toBe(paths.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});

test("a name does not depend on what else is there now, and a server that is down is listed from what was known", () => {
  const parts = [sampleInstance("git", named("commit")), sampleInstance("svn", named("commit"))];
  const down = [sampleStanding("git", { status: "offline", shown: false }), sampleStanding("svn")];
  const paths = ["git:commit", "svn:commit"];
  const whole = pinTools(sampleView(parts), paths, undefined);
  expect(pinTools(sampleView(parts, down), paths, undefined).listing.items).toEqual(whole.listing.items);
  expect(namesOf(sampleView(parts.slice(0, 1)), paths)).toEqual(["git-commit", undefined]);
  expect([...whole.paths]).toEqual([
    ["git-commit", "git:commit"],
    ["svn-commit", "svn:commit"],
  ]);
  const off = [sampleStanding("git", { status: "disabled" }), sampleStanding("svn")];
  expect(namesOf(sampleView(parts, off), paths)).toEqual([undefined, "svn-commit"]);
});

test("equal definitions have the same key, and others do not", () => {
  const paths = ["git:log"];
  const view = (description: string) => sampleView([sampleInstance("git", [{ name: "log", description }])]);
  const keyOf = (description: string) => pinTools(view(description), paths, undefined).key;
  expect(keyOf("a")).toBe(keyOf("a"));
  expect(keyOf("a")).not.toBe(keyOf("b"));
});

test("only servers that were never seen, and are pinned and on, are waited for", () => {
  const standings = [
    sampleStanding("new", { status: "connecting" }),
    sampleStanding("off", { status: "disabled" }),
    sampleStanding("other", { status: "connecting" }),
    sampleStanding("known"),
  ];
  const view = sampleView([sampleInstance("known", named("x"))], standings);
  const unseen = unseenServers(view, ["new:a", "off:a", "known:y"]);
  expect(unseen.map(({ slug }) => slug)).toEqual(["new"]);
});

test("a path that names no tool has the ones that are like it", () => {
  const view = sampleView([sampleInstance("git", named("commit", "push"))]);
  expect(nearPaths(view, "git:comit")[0]).toBe("git:commit");
  expect(nearPaths(view, `git:${"\u202e".repeat(1_000)}`).length).toBeLessThanOrEqual(3);
});
