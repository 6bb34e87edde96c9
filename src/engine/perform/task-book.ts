import type { Elsewhere } from "../../cluster/peers/held-things.ts";
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
  /**
   * Learns from the other nodes of a cluster what they know of the principal's tasks, so that `find` does. Undefined
   * where there is nothing to ask. Never rejects: what no node knows stays unknown.
   */
  seek(principal: Principal, taskIds: readonly unknown[]): Promise<void> | undefined;
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

/** Asked for at once: a server lists its tasks in pages. */
const mostSought = 1_000;

/** What nodes tell each other of a task. */
interface SaidTask extends Task {
  readonly id: string;
}

/**
 * Begins without tasks.
 *
 * @param elsewhere other nodes: each is told of every task, and a later one asks; undefined where there are none
 */
export function createTaskBook(elsewhere?: Pick<Elsewhere, "answer" | "others">): TaskBook {
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

  function tasksOf({ id }: Pick<Principal, "id">): Map<string, Task> {
    const known = ofPrincipals.get(id) ?? new Map<string, Task>();
    ofPrincipals.set(id, known);
    return known;
  }

  function taskOf({ id }: Pick<Principal, "id">, taskId: unknown): Task | undefined {
    return typeof taskId === "string" ? ofPrincipals.get(id)?.get(taskId) : undefined;
  }

  function put(principal: PrincipalId, { id, ...task }: SaidTask): void {
    const tasks = tasksOf({ id: principal });
    if (!tasks.has(id)) size += 1;
    tasks.set(id, task);
    if (size > keptTasks) forgetOne();
  }

  elsewhere?.answer("task", ({ about }) => {
    const { principal, told = [], ids = [] } = about as unknown as AboutTasks;
    for (const task of told) put(principal, task);
    const known = ids.flatMap((id): SaidTask[] => {
      const task = taskOf({ id: principal }, id);
      return task === undefined ? [] : [{ id, ...task }];
    });
    return { about: { known } };
  });

  async function ask(principal: PrincipalId, ids: readonly string[]): Promise<void> {
    const answers = await elsewhere?.others({ kind: "task", about: { principal, ids }, isHarmless: true });
    for (const { about } of answers ?? [])
      for (const task of (about["known"] ?? []) as SaidTask[]) put(principal, task);
  }

  return {
    note({ principal, connected }, instance, result) {
      const id = taskIdOf(result);
      if (id === undefined || id.length > longestId) return;
      const task = { id, instance, client: connected?.id };
      put(principal.id, task);
      void elsewhere?.others({ kind: "task", about: { principal: principal.id, told: [task] }, isHarmless: true });
    },
    seek(principal, taskIds) {
      if (elsewhere === undefined) return undefined;
      const isUnknown = (id: unknown): id is string =>
        typeof id === "string" && id.length <= longestId && taskOf(principal, id) === undefined;
      const ids = taskIds.filter(isUnknown).slice(0, mostSought);
      return ids.length === 0 ? undefined : ask(principal.id, ids);
    },
    find: (principal, taskId) => taskOf(principal, taskId)?.instance,
    isOf({ principal, connected }, { instance, id }) {
      const task = taskOf(principal, id);
      return task !== undefined && task.instance === instance && task.client === connected?.id;
    },
  };
}

interface AboutTasks {
  readonly principal: PrincipalId;
  readonly told?: readonly SaidTask[];
  readonly ids?: readonly string[];
}

/** In 2025-11-25 the task is in `task`; the extension of 2026-07-28 marks the result itself. */
function taskIdOf(result: JsonObject | undefined): string | undefined {
  if (result === undefined) return undefined;
  const task =
    result["resultType"] === "task" ? (isJsonObject(result["task"]) ? result["task"] : result) : result["task"];
  return isJsonObject(task) && typeof task["taskId"] === "string" ? task["taskId"] : undefined;
}
