import { expect, test } from "vitest";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { createTaskBook } from "./task-book.ts";

const builds = "builds" as InstanceId;
const bob = { ...localPrincipal, id: "bob" as PrincipalId };

test.each([
  ["2025-11-25: in `task`", { task: { taskId: "t1", status: "working" } }],
  ["2026-07-28: the result itself", { resultType: "task", taskId: "t1" }],
  ["2026-07-28: in `task` of a marked result", { resultType: "task", task: { taskId: "t1" } }],
])("a task is found by its id (%s)", (_form, result) => {
  const tasks = createTaskBook();
  tasks.note(localPrincipal, builds, result);
  expect(tasks.find(localPrincipal, "t1")).toBe(builds);
});

test.each([
  ["no result", undefined],
  ["an ordinary result", { content: [], taskId: "t1" }],
  ["a task without an id", { task: { status: "working" } }],
  ["an id that is no text", { task: { taskId: 1 } }],
])("%s begins no task", (_what, result) => {
  const tasks = createTaskBook();
  tasks.note(localPrincipal, builds, result);
  expect(tasks.find(localPrincipal, "t1")).toBeUndefined();
  expect(tasks.find(localPrincipal, 1)).toBeUndefined();
});

test("a task does not exist for another principal, who may have one of the same id", () => {
  const tasks = createTaskBook();
  tasks.note(localPrincipal, builds, { task: { taskId: "t1" } });
  expect(tasks.find(bob, "t1")).toBeUndefined();
  tasks.note(bob, "files" as InstanceId, { task: { taskId: "t1" } });
  expect(tasks.find(localPrincipal, "t1")).toBe(builds);
  expect(tasks.find(bob, "t1")).toBe("files");
});

test("beyond ten thousand tasks the oldest is forgotten, and no other", () => {
  const tasks = createTaskBook();
  for (let at = 0; at <= 10_000; at += 1) tasks.note(localPrincipal, builds, { task: { taskId: `t${at}` } });
  expect(tasks.find(localPrincipal, "t0")).toBeUndefined();
  expect(tasks.find(localPrincipal, "t1")).toBe(builds);
  expect(tasks.find(localPrincipal, "t10000")).toBe(builds);
});
