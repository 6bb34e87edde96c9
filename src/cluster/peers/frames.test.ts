import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { createFrameReader, createFrameStream, type FrameHead } from "./frames.ts";

const bodyBytes = 4 * 1024 ** 2;

/** Two ends of one connection; `cut` says in which pieces bytes arrive. */
function connected(cut = (bytes: Buffer): readonly Buffer[] => [bytes]) {
  const ends: Duplex[] = [];
  const make = (other: () => Duplex | undefined): Duplex =>
    new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        for (const piece of cut(chunk)) other()?.push(piece);
        done();
      },
    });
  ends.push(
    make(() => ends[1]),
    make(() => ends[0]),
  );
  return ends as [Duplex, Duplex];
}

async function received(count: number, send: (frames: ReturnType<typeof createFrameStream>) => void, cut?: any) {
  const [one, other] = connected(cut);
  const frames: (readonly [FrameHead, Buffer])[] = [];
  await new Promise<void>((resolve) => {
    createFrameStream(other, {
      bodyBytes,
      onFrame(head, body) {
        frames.push([head, Buffer.from(body)]);
        if (frames.length === count) resolve();
      },
    });
    send(createFrameStream(one, { bodyBytes, onFrame: () => undefined }));
  });
  return frames;
}

test.each([
  ["one byte at a time", (bytes: Buffer) => Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))],
  ["within a length", (bytes: Buffer) => [bytes.subarray(0, 5), bytes.subarray(5)]],
  ["all at once", (bytes: Buffer) => [bytes]],
])("frames arrive as they were sent, %s", async (_how, cut) => {
  const bodies = [Buffer.from("a"), Buffer.alloc(0), Buffer.from("ä\0\xff", "latin1")];
  const frames = await received(
    3,
    (stream) => bodies.forEach((body, id) => stream.send({ k: "x", id, text: "ö\u2028" }, body)),
    cut,
  );
  expect(frames).toEqual(bodies.map((body, id) => [{ k: "x", id, text: "ö\u2028" }, body]));
});

test("a long body comes whole, and a short one that is sent after it comes before", async () => {
  const long = Buffer.alloc(3 * 1024 ** 2, "ab");
  const frames = await received(2, (stream) => {
    stream.send({ k: "long" }, long);
    stream.send({ k: "short" });
  });
  expect(frames.map(([{ k }]) => k)).toEqual(["short", "long"]);
  expect(frames[1]?.[1].equals(long)).toBe(true);
});

test.each([
  ["no JSON", "{"],
  ["no object", "[]"],
  ["no kind", "{}"],
])("a head that is %s is refused", (_what, text) => {
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(text.length, 0);
  expect(createFrameReader(bodyBytes, () => true)(Buffer.concat([prefix, Buffer.from(text)]))).toBe(false);
});

test("lengths beyond the limits are refused before anything is kept", () => {
  for (const [head, body] of [
    [7 * bodyBytes, 0],
    [0, bodyBytes + 1],
  ] as const) {
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32BE(head, 0);
    prefix.writeUInt32BE(body, 4);
    expect(createFrameReader(bodyBytes, () => true)(prefix)).toBe(false);
  }
});

test("pieces that are more than a body, and a peer that takes nothing, end the connection", async () => {
  const [one, other] = connected();
  const ended = new Promise<void>((resolve) => other.once("close", () => resolve()));
  createFrameStream(other, { bodyBytes: 1_000_000, onFrame: () => undefined });
  createFrameStream(one, { bodyBytes, onFrame: () => undefined }).send({ k: "x" }, Buffer.alloc(2_000_000));
  await ended;

  const deaf = new Duplex({ read: () => undefined, write: () => undefined });
  const gaveUp = new Promise<void>((resolve) => deaf.once("close", () => resolve()));
  const stream = createFrameStream(deaf, { bodyBytes, onFrame: () => undefined });
  const piece = Buffer.alloc(250_000);
  for (let bytes = 0; bytes < 200 * 1024 ** 2 && !deaf.destroyed; bytes += 40 * piece.length) {
    for (let times = 0; times < 40; times += 1) stream.send({ k: "x" }, piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await gaveUp;
});
