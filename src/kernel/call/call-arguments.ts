import type { JsonBytes } from "../text/json-bytes.ts";

/** The arguments of a call: the bytes that the client wrote, and the value that JSON.parse made of them. */
export interface CallArguments {
  /** Sent to the server as they are; undefined when the client gave no arguments. */
  readonly bytes: JsonBytes | undefined;
  /** Used for checks only; `{}` when the client gave no arguments. */
  readonly value: unknown;
}

/** The arguments of a call that has none. */
export const noArguments: CallArguments = Object.freeze({ bytes: undefined, value: Object.freeze({}) });

/** Whether arguments say that there are none, as many languages write it: null, an empty list. */
export function areNone(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Parses arguments that are available only as bytes. Throws SyntaxError when they are not JSON. */
export function toCallArguments(bytes: JsonBytes | undefined): CallArguments {
  return bytes === undefined ? noArguments : { bytes, value: JSON.parse(bytes.toString("utf8")) as unknown };
}
