import type { InstanceId } from "./ids.ts";

/** Exactly one tool: the instance that runs it, and the name that its server gave it. */
export interface ToolRef {
  readonly instance: InstanceId;
  readonly name: string;
}
