import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import type { Principal } from "../../kernel/principal.ts";

/** The author of a task: the principal, and the connection of the client if it has one. */
export type TaskAuthor = Pick<CallContext, "principal" | "connected">;

/**
 * Remembers which server created which task, for whom. Where one endpoint leads to several servers, a client's later
 * requests about the task go to that one. Bound to the principal: for everybody else the task does not exist.
 */
export interface TaskBook {
  /** Remembers the task if the result contains one. */
  note(by: TaskAuthor, instance: InstanceId, result: JsonObject | undefined): void;
  find(principal: Principal, taskId: unknown): InstanceId | undefined;
  /** Whether this client of the principal began the task. */
  isOf(by: Required<TaskAuthor>, task: { readonly instance: InstanceId; readonly id: unknown }): boolean;
}

interface Task {
  readonly instance: InstanceId;
  readonly client: string | undefined;
}

/** Beyond this number the oldest task of the author with most is forgotten, and its client gets an error. */
const keptTasks = 10_000;
/** Ids are UUIDs and the like: a server could keep its largest message in memory with each. */
const longestId = 1_000;

/** Begins without tasks. */
export function createTaskBook(): TaskBook {
  const ofPrincipals = new Map<PrincipalId, Map<string, Task>>();
  let size = 0;

  function forgetOne(): void {
    const [first, ...others] = ofPrincipals;
    if (first === undefined) return;
    const [principal, tasks] = others.reduce((most, one) => (one[1].size > most[1].size ? one : most), first);
    for (const oldest of [...tasks.keys()].slice(0, 1)) tasks.delete(oldest);
    size -= 1;
    if (tasks.size === 0) ofPrincipals.delete(principal);
  }

  function tasksOf({ id }: Principal): Map<string, Task> {
    const known = ofPrincipals.get(id) ?? new Map<string, Task>();
    ofPrincipals.set(id, known);
    return known;
  }

  function taskOf({ id }: Principal, taskId: unknown): Task | undefined {
    return typeof taskId === "string" ? ofPrincipals.get(id)?.get(taskId) : undefined;
  }

  return {
    note({ principal, connected }, instance, result) {
      const taskId = taskIdOf(result);
      if (taskId === undefined || taskId.length > longestId) return;
      const tasks = tasksOf(principal);
      if (!tasks.has(taskId)) size += 1;
      tasks.set(taskId, { instance, client: connected?.id });
      if (size > keptTasks) forgetOne();
    },
    find: (principal, taskId) => taskOf(principal, taskId)?.instance,
    isOf({ principal, connected }, { instance, id }) {
      const task = taskOf(principal, id);
      return task !== undefined && task.instance === instance && task.client === connected?.id;
    },
  };
}

/** In 2025-11-25 the task is in `task`; the extension of 2026-07-28 marks the result itself. */
function taskIdOf(result: JsonObject | undefined): string | undefined {
  if (result === undefined) return undefined;
  const task =
    result["resultType"] === "task" ? (isJsonObject(result["task"]) ? result["task"] : result) : result["task"];
  return isJsonObject(task) && typeof task["taskId"] === "string" ? task["taskId"] : undefined;
}
