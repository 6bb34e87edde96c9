import { expect, test } from "vitest";
import type { ConnectedClient } from "../../kernel/call/call-context.ts";
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
  tasks.note({ principal: localPrincipal }, builds, result);
  expect(tasks.find(localPrincipal, "t1")).toBe(builds);
});

test.each([
  ["no result", undefined],
  ["an ordinary result", { content: [], taskId: "t1" }],
  ["a task without an id", { task: { status: "working" } }],
  ["an id that is no text", { task: { taskId: 1 } }],
])("%s begins no task", (_what, result) => {
  const tasks = createTaskBook();
  tasks.note({ principal: localPrincipal }, builds, result);
  expect(tasks.find(localPrincipal, "t1")).toBeUndefined();
  expect(tasks.find(localPrincipal, 1)).toBeUndefined();
});

test("a task does not exist for another principal, who may have one of the same id", () => {
  const tasks = createTaskBook();
  tasks.note({ principal: localPrincipal }, builds, { task: { taskId: "t1" } });
  expect(tasks.find(bob, "t1")).toBeUndefined();
  tasks.note({ principal: bob }, "files" as InstanceId, { task: { taskId: "t1" } });
  expect(tasks.find(localPrincipal, "t1")).toBe(builds);
  expect(tasks.find(bob, "t1")).toBe("files");
});

test("beyond ten thousand tasks the oldest is forgotten, and no other", () => {
  const tasks = createTaskBook();
  for (let at = 0; at <= 10_000; at += 1)
    tasks.note({ principal: localPrincipal }, builds, { task: { taskId: `t${at}` } });
  expect(tasks.find(localPrincipal, "t0")).toBeUndefined();
  expect(tasks.find(localPrincipal, "t1")).toBe(builds);
  expect(tasks.find(localPrincipal, "t10000")).toBe(builds);
});

test("room is made among the tasks of whoever has most of them", () => {
  const tasks = createTaskBook();
  tasks.note({ principal: bob }, builds, { task: { taskId: "first" } });
  for (let at = 0; at <= 10_000; at += 1)
    tasks.note({ principal: localPrincipal }, builds, { task: { taskId: `t${at}` } });
  expect(tasks.find(bob, "first")).toBe(builds);
  expect(tasks.find(localPrincipal, "t0")).toBeUndefined();
});

test("a task is only that client's whose call began it; one with an endless id is nobody's", () => {
  const tasks = createTaskBook();
  const clientOf = (id: string): ConnectedClient => ({ id }) as ConnectedClient;
  tasks.note({ principal: bob, connected: clientOf("one") }, builds, { task: { taskId: "t1" } });
  const task = { instance: builds, id: "t1" };
  expect(tasks.isOf({ principal: bob, connected: clientOf("one") }, task)).toBe(true);
  expect(tasks.isOf({ principal: bob, connected: clientOf("two") }, task)).toBe(false);
  expect(tasks.isOf({ principal: localPrincipal, connected: clientOf("one") }, task)).toBe(false);
  expect(tasks.isOf({ principal: bob, connected: clientOf("one") }, { ...task, instance: "b" as InstanceId })).toBe(
    false,
  );
  tasks.note({ principal: bob }, builds, { task: { taskId: "x".repeat(1_001) } });
  expect(tasks.find(bob, "x".repeat(1_001))).toBeUndefined();
});
