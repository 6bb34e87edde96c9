import { appendFile, readFile } from "node:fs/promises";
import type { VectorEntry, VectorStore } from "../../catalog/discovery/meaning/embeddings.ts";
import { replaceFile } from "./safe/replace-file.ts";

/**
 * Stores vectors by content hash (64 hexadecimal digits). A file has the vectors of one model, all of the same
 * length.
 */
export interface VectorFile extends VectorStore, AsyncDisposable {
  /** Reads the file; call it once. Starts empty when there is no file, or it is of another model. */
  load(): Promise<void>;
}

/** Which file, for which model. */
export interface VectorFileOptions {
  readonly path: string;
  /** Identifies the model that makes the vectors; a file with another one is discarded. */
  readonly model: string;
  readonly onFailure: (error: unknown) => void;
}

const hashBytes = 32;
/** The most vectors kept: twice the number that is needed at once, and 160 MB at 1,024 dimensions. */
const vectorLimit = 40_000;

/**
 * The file has one line of JSON, `{ model, length }`, and then records of 32 bytes of hash and `length` little-endian
 * floats. New records are appended. Half a record at the end, left by a crash, is ignored and overwritten.
 */
export function createVectorFile({ path, model, onFailure }: VectorFileOptions): VectorFile {
  let vectors = new Map<string, Float32Array>();
  let length: number | undefined;
  /** False until the file on disk is known to be complete and ours; then the next write replaces it. */
  let isWhole = false;
  let work: Promise<void> = Promise.resolve();
  /** Vectors that are in memory but not yet on disk. */
  let unwritten: VectorEntry[] = [];

  async function write(): Promise<void> {
    const fresh = unwritten;
    unwritten = [];
    const replaces = !isWhole;
    // Before the write: a vector that is forgotten meanwhile makes it false again, and the next write leaves that out.
    isWhole = true;
    if (replaces) await replaceFile(path, Buffer.concat([header(model, length ?? 0), ...[...vectors].map(toRecord)]));
    else if (fresh.length > 0)
      await appendFile(path, Buffer.concat(fresh.map(({ hash, vector }) => toRecord([hash, vector]))));
  }
  function writeSoon(): void {
    work = work.then(write).catch((error: unknown) => {
      isWhole = false;
      onFailure(error);
    });
  }

  return {
    async load() {
      const content = await readFile(path).catch(() => undefined);
      const read = content === undefined ? undefined : parse(content, model);
      if (read === undefined) return;
      ({ vectors, length, isWhole } = read);
    },
    get: (hash) => vectors.get(hash),
    put(entries) {
      const fresh = entries.filter(
        ({ hash, vector }) => isHash(hash) && vector.length === (length ??= vector.length) && !vectors.has(hash),
      );
      if (fresh.length === 0) return;
      for (const { hash, vector } of fresh) vectors.set(hash, vector);
      unwritten.push(...fresh);
      writeSoon();
    },
    keepOnly(hashes) {
      if (vectors.size <= vectorLimit) return;
      vectors = new Map([...vectors].filter(([hash]) => hashes.has(hash)));
      isWhole = false;
      writeSoon();
    },
    async [Symbol.asyncDispose]() {
      await work;
    },
  };
}

function header(model: string, length: number): Buffer {
  return Buffer.from(`${JSON.stringify({ model, length })}\n`);
}

function toRecord([hash, vector]: readonly [string, Float32Array]): Buffer {
  const record = Buffer.alloc(hashBytes + 4 * vector.length);
  record.write(hash, "hex");
  for (const [at, value] of vector.entries()) record.writeFloatLE(value, hashBytes + 4 * at);
  return record;
}

interface Parsed {
  readonly vectors: Map<string, Float32Array>;
  readonly length: number;
  readonly isWhole: boolean;
}

function parse(content: Buffer, model: string): Parsed | undefined {
  const end = content.indexOf(10);
  if (end < 0 || end > 1_000) return undefined;
  const length = lengthIn(content.toString("utf8", 0, end), model);
  if (length === undefined) return undefined;
  const recordBytes = hashBytes + 4 * length;
  const vectors = new Map<string, Float32Array>();
  let at = end + 1;
  for (; at + recordBytes <= content.length; at += recordBytes) {
    const vector = new Float32Array(length);
    for (let i = 0; i < length; i += 1) vector[i] = content.readFloatLE(at + hashBytes + 4 * i);
    vectors.set(content.toString("hex", at, at + hashBytes), vector);
  }
  return { vectors, length, isWhole: at === content.length };
}

function lengthIn(line: string, model: string): number | undefined {
  try {
    const found = JSON.parse(line) as { model?: unknown; length?: unknown };
    const isOurs = found.model === model && Number.isInteger(found.length) && (found.length as number) > 0;
    return isOurs ? (found.length as number) : undefined;
  } catch {
    return undefined;
  }
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
