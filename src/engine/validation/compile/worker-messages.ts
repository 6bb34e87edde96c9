import type { Compiled } from "./compile-schema.ts";

/** What the compile worker is told once, when it starts. */
export interface CompileWorkerData {
  /** The most characters of code for one schema. */
  readonly codeLimit: number;
  /** The gateway's build. A worker of another build would make code that does not fit. */
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
