import type { JsonBytes } from "./json-bytes.ts";

/** Arguments of a call as the client wrote them, and what JSON.parse made of them. */
export interface CallArguments {
  /** What goes to the server; undefined when the client gave none. */
  readonly bytes: JsonBytes | undefined;
  /** What is checked; `{}` when the client gave none. */
  readonly value: unknown;
}

export const noArguments: CallArguments = Object.freeze({ bytes: undefined, value: Object.freeze({}) });

/** Reads arguments of which only the bytes are at hand. Throws SyntaxError when they are no JSON. */
export function toCallArguments(bytes: JsonBytes | undefined): CallArguments {
  return bytes === undefined ? noArguments : { bytes, value: JSON.parse(bytes.toString("utf8")) as unknown };
}
