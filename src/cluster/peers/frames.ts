import type { Duplex } from "node:stream";
import { parseJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/** What a frame says. Its kind is `k`; the rest depends on that. */
export type FrameHead = { readonly k: string } & JsonObject;

/** Frames over one connection between two nodes, in both directions. */
export interface FrameStream {
  /** Sends a head, and bytes exactly as they are. Long ones go in pieces, between which others get through. */
  send(head: FrameHead, body?: Buffer): void;
  /** Bytes that the other side has not taken yet. */
  readonly waitingBytes: number;
  /** Ends it; what was sent before is still written. */
  end(): void;
  destroy(): void;
  /** Settles when it has ended in any way. */
  readonly closed: Promise<void>;
}

export interface FrameOptions {
  readonly onFrame: (head: FrameHead, body: Buffer) => void;
  /** The most bytes of one body, in all of its pieces. */
  readonly bodyBytes: number;
}

/** Two lengths, of the head and of the bytes. */
const prefixBytes = 8;
/** A head has what a client declared and sent in `_meta`: `1e20` is five times as long when it is written again. */
const headPerBody = 6;
const pieceBytes = 256 * 1024;
/** A peer that takes nothing more is sent no further pieces meanwhile. */
const windowBytes = 4 * 1024 ** 2;
/** A peer that is so far behind is disconnected: what waits for it is in memory. */
const mostWaitingBytes = 128 * 1024 ** 2;
/** Bodies whose pieces are not complete. */
const mostOpenBodies = 1_000;
const noBytes = Buffer.alloc(0);

/**
 * Frames on a socket. Those of one turn of the event loop are one write. A peer that sends no frames, or too
 * much, is disconnected.
 */
export function createFrameStream(socket: Duplex, { onFrame, bodyBytes }: FrameOptions): FrameStream {
  const pieces = createPieces(onFrame, bodyBytes);
  const reader = createFrameReader(bodyBytes, pieces.take);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let bodies = 0;

  function flush(): void {
    const all = waiting;
    waiting = [];
    waitingBytes = 0;
    if (socket.writableLength > mostWaitingBytes) socket.destroy();
    if (!socket.destroyed) socket.write(all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all));
  }

  function write(head: FrameHead, body: Buffer): void {
    if (socket.destroyed || socket.writableEnded) return;
    if (waiting.length === 0) setImmediate(flush);
    const text = Buffer.from(JSON.stringify(head), "utf8");
    const prefix = Buffer.allocUnsafe(prefixBytes);
    prefix.writeUInt32BE(text.length, 0);
    prefix.writeUInt32BE(body.length, 4);
    waiting.push(prefix, text);
    waitingBytes += prefixBytes + text.length + body.length;
    if (body.length > 0) waiting.push(body);
  }

  async function sendLong(head: FrameHead, body: Buffer): Promise<void> {
    bodies += 1;
    const id = bodies;
    const last = Math.floor((body.length - 1) / pieceBytes) * pieceBytes;
    for (let at = 0; at < last; at += pieceBytes) {
      write({ k: "piece", id }, body.subarray(at, at + pieceBytes));
      await turnOf(socket);
      if (socket.destroyed) return;
    }
    write({ ...head, piecesOf: id }, body.subarray(last));
  }

  socket.on("data", (chunk: Buffer) => {
    if (!reader(chunk)) socket.destroy();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return {
    send(head, body = noBytes) {
      if (body.length <= pieceBytes) write(head, body);
      else void sendLong(head, body);
    },
    get waitingBytes() {
      return waitingBytes + socket.writableLength;
    },
    end() {
      if (waiting.length > 0) flush();
      socket.end();
    },
    destroy: () => void socket.destroy(),
    closed,
  };
}

/** Lets others write, and waits for a peer that is behind. */
async function turnOf(socket: Duplex): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  if (socket.destroyed || socket.writableLength < windowBytes) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** Takes the next bytes of a stream. False when they are no frames. */
export type FrameReader = (chunk: Buffer) => boolean;

/** Cuts a stream into frames, whatever the sizes in which it comes. */
export function createFrameReader(bodyBytes: number, onFrame: (head: FrameHead, body: Buffer) => boolean): FrameReader {
  let chunks: Buffer[] = [];
  let have = 0;
  let need = prefixBytes;

  function take(): Buffer {
    const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, have);
    chunks = [];
    return all;
  }

  return (chunk) => {
    chunks.push(chunk);
    have += chunk.length;
    if (have < need) return true;
    let bytes = take();
    for (;;) {
      if (bytes.length < prefixBytes) break;
      const [head, body] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
      if (head > headPerBody * bodyBytes || body > bodyBytes) return false;
      need = prefixBytes + head + body;
      if (bytes.length < need) break;
      const parsed = parseHead(bytes.subarray(prefixBytes, prefixBytes + head));
      if (parsed === undefined || !onFrame(parsed, bytes.subarray(prefixBytes + head, need))) return false;
      bytes = bytes.subarray(need);
      need = prefixBytes;
    }
    have = bytes.length;
    if (have > 0) chunks = [bytes];
    return true;
  };
}

function parseHead(bytes: Buffer): FrameHead | undefined {
  const head = parseJsonObject(bytes);
  return typeof head?.["k"] === "string" ? (head as FrameHead) : undefined;
}

/** Puts bodies together that came in pieces. */
function createPieces(onFrame: FrameOptions["onFrame"], bodyBytes: number) {
  const open = new Map<number, { readonly parts: Buffer[]; bytes: number }>();

  function add(id: number, body: Buffer): boolean {
    const one = open.get(id) ?? { parts: [], bytes: 0 };
    // The rest of the chunk that a piece lies in is not to be kept with it.
    one.parts.push(Buffer.from(body));
    one.bytes += body.length;
    open.set(id, one);
    return one.bytes <= bodyBytes && open.size <= mostOpenBodies;
  }

  return {
    take(head: FrameHead, body: Buffer): boolean {
      if (head.k === "piece") return add(Number(head["id"]), body);
      const { piecesOf } = head;
      if (typeof piecesOf !== "number") onFrame(head, body);
      else {
        const parts = open.get(piecesOf)?.parts ?? [];
        open.delete(piecesOf);
        onFrame(head, Buffer.concat([...parts, body]));
      }
      return true;
    },
  };
}
