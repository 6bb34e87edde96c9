import type { Intent } from "../../catalog/exposure/intent.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import type { Gate } from "./stages.ts";
import type { Outcome, Work } from "./work.ts";
import type { TaskBook } from "./task-book.ts";

/**
 * Keeps people's tasks apart on a server that they share. The server sees one client, the gateway, and cannot bind a
 * task to its author, as it has to (2025-11-25, basic/utilities/tasks, "Task Isolation and Access Control"): that is
 * done here. A task from before the gateway's last start belongs to no one.
 */
export interface SharedTasks {
  /** Throws PARAMS_INVALID for a task that somebody else began, as for one that there is not. */
  readonly check: Gate;
  /** Reduces a list of tasks to those of the principal who asked for it. */
  fit(intent: Intent, work: Work, outcome: Outcome): Outcome | Promise<Outcome>;
}

/**
 * Where `instanceOf` says that a server belongs to one person, or where there is no one but the owner, nothing is done.
 */
export function createSharedTasks(
  instanceOf: (id: InstanceId) => Instance | undefined,
  tasks: Pick<TaskBook, "find" | "seek">,
): SharedTasks {
  const concerns = (
    intent: Intent,
    { request, context }: Work,
  ): intent is Extract<Intent, { readonly kind: "forward" }> =>
    intent.kind === "forward" &&
    request?.method.startsWith("tasks/") === true &&
    context.principal.id !== localPrincipal.id &&
    instanceOf(intent.server.instance)?.owner === null;
  const isOwn = (instance: InstanceId, { context }: Work, taskId: unknown): boolean =>
    tasks.find(context.principal, taskId) === instance;

  function requireOwn(intent: Extract<Intent, { kind: "forward" }>, work: Work): undefined {
    if (isOwn(intent.server.instance, work, work.request?.params["taskId"])) return undefined;
    throw new GatewayError("PARAMS_INVALID", "there is no such task");
  }

  return {
    check(intent, work) {
      if (!concerns(intent, work) || work.request?.method === "tasks/list") return undefined;
      const seeking = tasks.seek(work.context.principal, [work.request?.params["taskId"]]);
      return seeking === undefined ? requireOwn(intent, work) : seeking.then(() => requireOwn(intent, work));
    },
    fit(intent, work, outcome) {
      if (outcome.kind !== "result" || !concerns(intent, work) || work.request?.method !== "tasks/list") return outcome;
      const { tasks: all, ...others } = outcome.result.parsed();
      const listed = Array.isArray(all) ? all.filter(isJsonObject) : [];
      const toOwn = (): Outcome => {
        const own = listed.filter((task) => isOwn(intent.server.instance, work, task["taskId"]));
        const result = { ...others, tasks: own };
        return { ...outcome, result: new ResultBytes(Buffer.from(JSON.stringify(result)), result) };
      };
      const seeking = tasks.seek(
        work.context.principal,
        listed.map((task) => task["taskId"]),
      );
      return seeking === undefined ? toOwn() : seeking.then(toOwn);
    },
  };
}
