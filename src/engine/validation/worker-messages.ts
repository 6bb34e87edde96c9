import type { Compiled } from "./compile-schema.ts";

/** What the compile worker is told once, at its start. */
export interface CompileWorkerData {
  /** Characters of code that one schema may become. */
  readonly codeLimit: number;
  /** Of the gateway: a worker of another build would make code that does not fit. */
  readonly buildId: string;
}

export interface CompileRequest {
  readonly id: number;
  /** The schema as JSON text. */
  readonly text: string;
}

export type CompileReply =
  | { readonly kind: "ready" }
  | { readonly kind: "compiled"; readonly id: number; readonly compiled: Compiled };
