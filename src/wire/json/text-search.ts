import { textSearchCode } from "./text-search-code.ts";

/** Bytes that are looked at after one copy. */
export const searchedBytes = 65_536;

/**
 * Searches the inside of long JSON strings. Text as people write it has an escape every few words; a search that is
 * written in JavaScript took a third of all time that a result of a megabyte of it costs, this one a tenth.
 */
export interface TextSearch {
  /** Copies at most `searchedBytes` bytes to where they are searched; returns what names them to the other two. */
  load(bytes: Buffer): number;
  /** Whether these bytes are still there: somebody else may have loaded others since. */
  holds(load: number): boolean;
  /**
   * The first index from `at` on, below `end`, of a quote, a control character, or a backslash that does not begin one
   * of the escapes of two characters, or whose second one is beyond `end`. `end` when there is none.
   */
  find(at: number, end: number): number;
  /**
   * The first index from `at` on, below `end`, of a quote that no backslash escapes. When there is none, where to go on
   * behind these bytes: `end`, or one more when the last of them escapes the next.
   */
  close(at: number, end: number): number;
}

/** The part of WebAssembly that is used, which Node's types leave out. */
interface Engine {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly find: (at: number, end: number) => number;
  readonly close: (at: number, end: number) => number;
}

/** Where the loaded bytes begin: before them is the table. */
const base = 256;

/**
 * Makes one, in a millisecond. Undefined where Node runs without WebAssembly (`--jitless`), or the processor without
 * its instructions of 16 bytes.
 */
export function createTextSearch(): TextSearch | undefined {
  const { WebAssembly: engine } = globalThis as { readonly WebAssembly?: Engine };
  if (engine === undefined) return undefined;
  let exports: Exports;
  try {
    exports = new engine.Instance(new engine.Module(Buffer.from(textSearchCode, "base64"))).exports as Exports;
  } catch {
    return undefined;
  }
  const { memory, find, close } = exports;
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(shortEscapes);
  let loads = 0;
  return {
    load(block) {
      bytes.set(block, base);
      loads += 1;
      return loads;
    },
    holds: (load) => load === loads,
    find: (at, end) => find(base + at, base + end) - base,
    close: (at, end) => close(base + at, base + end) - base,
  };
}

/** One for everybody who asks the returned function, made when it is first asked for: most gateways never need it. */
export function createLateTextSearch(): () => TextSearch | undefined {
  let made: { readonly search: TextSearch | undefined } | undefined;
  return () => (made ??= { search: createTextSearch() }).search;
}

/** By byte: 1 for those that make an escape with the backslash before them alone (RFC 8259, section 7). */
export const shortEscapes: Readonly<Uint8Array> = Uint8Array.from({ length: base }, (_, byte) =>
  Number('"\\/bfnrt'.includes(String.fromCharCode(byte))),
);
