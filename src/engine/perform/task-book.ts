import type { InstanceId } from "../../kernel/ids.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import type { Principal } from "../../kernel/principal.ts";

/**
 * Remembers which server created which task. Where one endpoint leads to several servers, a client's later requests
 * about the task go to that one. Bound to the principal: for everybody else the task does not exist.
 */
export interface TaskBook {
  /** Remembers the task if the result contains one. */
  note(principal: Principal, instance: InstanceId, result: JsonObject | undefined): void;
  find(principal: Principal, taskId: unknown): InstanceId | undefined;
}

/** Beyond this number the oldest task is forgotten, and its client gets an error. */
const keptTasks = 10_000;

/** Begins without tasks. */
export function createTaskBook(): TaskBook {
  const owners = new Map<string, InstanceId>();
  const keyOf = (principal: Principal, taskId: string): string => `${principal.id}\n${taskId}`;
  return {
    note(principal, instance, result) {
      const taskId = taskIdOf(result);
      if (taskId === undefined) return;
      owners.set(keyOf(principal, taskId), instance);
      for (const key of owners.keys()) {
        if (owners.size <= keptTasks) break;
        owners.delete(key);
      }
    },
    find: (principal, taskId) => (typeof taskId === "string" ? owners.get(keyOf(principal, taskId)) : undefined),
  };
}

/** In 2025-11-25 the task is in `task`; the extension of 2026-07-28 marks the result itself. */
function taskIdOf(result: JsonObject | undefined): string | undefined {
  if (result === undefined) return undefined;
  const task =
    result["resultType"] === "task" ? (isJsonObject(result["task"]) ? result["task"] : result) : result["task"];
  return isJsonObject(task) && typeof task["taskId"] === "string" ? task["taskId"] : undefined;
}
