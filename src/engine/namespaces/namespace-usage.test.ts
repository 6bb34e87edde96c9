import { expect, test } from "vitest";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { createNamespaceUsage } from "./namespace-usage.ts";

const alice = "alice" as PrincipalId;
const github = "github" as InstanceId;
const files = "files" as InstanceId;

test("loads, calls, tools and the last use are counted for one principal and instance", () => {
  const usage = createNamespaceUsage();
  usage.countLoad(alice, github, 10);
  usage.countCall(alice, github, "create_issue", 20);
  usage.countCall(alice, github, "create_issue", 15);
  expect(usage.get(alice, github)).toEqual({
    loads: 1,
    calls: 2,
    lastUsedAtMs: 20,
    tools: new Map([["create_issue", 2]]),
  });
  expect(usage.get("bob" as PrincipalId, github)).toBeUndefined();
  expect(usage.get(alice, files)).toBeUndefined();
});

test("what was stored is added to what was counted before it had been read", () => {
  const earlier = createNamespaceUsage();
  earlier.countLoad(alice, github, 5);
  earlier.countCall(alice, github, "create_issue", 6);
  const usage = createNamespaceUsage();
  usage.countCall(alice, github, "list_issues", 30);
  usage.adopt(earlier.snapshot());
  expect(usage.snapshot()).toEqual([
    {
      principal: alice,
      instance: github,
      loads: 1,
      calls: 2,
      lastUsedAtMs: 30,
      tools: { list_issues: 1, create_issue: 1 },
    },
  ]);
});

test("when one count reaches ten thousand, all of the principal's are halved", () => {
  const usage = createNamespaceUsage();
  for (let at = 0; at < 100; at += 1) usage.countLoad(alice, files, at);
  for (let at = 0; at < 9_999; at += 1) usage.countCall(alice, github, "get", at);
  expect(usage.get(alice, files)?.loads).toBe(100);
  usage.countCall(alice, github, "get", 10_000);
  expect(usage.get(alice, github)?.calls).toBe(5_000);
  expect(usage.get(alice, files)?.loads).toBe(50);
});

test("beyond a thousand namespaces the one unused for longest is forgotten", () => {
  const usage = createNamespaceUsage();
  for (let at = 0; at < 1_000; at += 1) usage.countLoad(alice, `s${at}` as InstanceId, 1_000 - at);
  usage.countLoad(alice, github, 2_000);
  expect(usage.get(alice, "s999" as InstanceId)).toBeUndefined();
  expect(usage.get(alice, "s998" as InstanceId)?.loads).toBe(1);
  expect(usage.of(alice).size).toBe(1_000);
});
