import type { MessageTap, TapPeer, TappedBytes, TapWay } from "../../kernel/events/message-tap.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { metaKeys } from "../../wire/mcp/revisions.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../kernel/text/json-bytes.ts";

/** Messages as they pass, for those who look at them. Without readers none is looked at, and nothing is kept. */
export interface MessageWatch extends Disposable {
  /** Begins to tell a reader what passes. Returns the function that ends it. */
  follow(reader: MessageReader): () => void;
}

export interface MessageReader {
  /** Whether the reader may see what passes there, and wants to. */
  readonly sees: (peer: TapPeer) => boolean;
  /** Whether so much waits for the reader that it cannot take more. */
  readonly isFull: () => boolean;
  readonly onMessage: (message: SeenMessage) => void;
  /** So many messages that the reader would have seen were left out before the next one. */
  readonly onLost: (count: number) => void;
}

export type MessageKind = "request" | "notification" | "result" | "error" | "refusal" | "unknown";

/** A message that has passed, without secrets. */
export interface SeenMessage {
  readonly atMs: number;
  readonly side: TapPeer["side"];
  /** Towards the gateway, or away from it. */
  readonly way: TapWay;
  /** The server's slug, or what the client calls itself. */
  readonly name: string | null;
  /** Whose client it is. */
  readonly principal: string | null;
  readonly instance: InstanceId | null;
  readonly kind: MessageKind;
  /** Of an answer, that of its request. */
  readonly method: string | null;
  /** As it was written. */
  readonly id: string | null;
  readonly bytes: number;
  /** Between an answer and its request. */
  readonly tookMs: number | null;
  /** Of HTTP, where it is an error. */
  readonly status: number | null;
  readonly text: string;
  /** Whether the text is the beginning of the message alone. */
  readonly isCut: boolean;
}

export interface MessageWatchDeps {
  readonly tap: MessageTap;
  readonly clock: Clock;
  /** Takes secrets out of JSON, or of the beginning of it. */
  readonly redact: (text: string, peer: TapPeer) => string;
}

/** Bytes of one message that are shown. */
const longestText = 16_384;
/** More is read before the cut, because a secret that the cut goes through is not known by its first characters. */
const unsure = 1_024;
/** Bytes at the end of a longer one in which its id may stand. */
const tailBytes = 160;
/** Of all messages that wait to be told, and of their bytes. */
const mostWaiting = 1_000;
const mostWaitingBytes = 4 * 1024 * 1024;
/** Often enough for eyes. */
const tellMs = 50;
/** Told in one turn of the event loop: to redact so much takes a few milliseconds. */
const mostBytesAtOnce = 131_072;
/** Requests whose answer has not passed; those of before are forgotten. */
const mostRequests = 5_000;

interface Waiting {
  readonly peer: TapPeer;
  readonly way: TapWay;
  readonly atMs: number;
  readonly monotonicMs: number;
  readonly bytes: number;
  readonly status: number | undefined;
  /** One character for each byte. */
  readonly head: string;
  /** The end of a message that is longer than its head. */
  readonly tail: string;
}

export function createMessageWatch({ tap, clock, redact }: MessageWatchDeps): MessageWatch {
  const readers = new Map<MessageReader, { lost: number }>();
  const requests = createRequestBook();
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let cancelTell: (() => void) | undefined;

  function take(peer: TapPeer, way: TapWay, message: TappedBytes, status?: number): void {
    let isSeen = false;
    const isRoom = waiting.length < mostWaiting && waitingBytes < mostWaitingBytes;
    for (const [reader, count] of readers) {
      if (!reader.sees(peer)) continue;
      isSeen = true;
      if (!isRoom) count.lost += 1;
    }
    if (!isSeen || !isRoom) return;
    const [atMs, monotonicMs] = [clock.now(), clock.monotonic()];
    const cut = cutBytes(message);
    waiting.push({ peer, way, atMs, monotonicMs, status, ...cut });
    waitingBytes += cut.head.length;
    cancelTell ??= clock.after(tellMs, tell);
  }

  function tell(): void {
    let room = mostBytesAtOnce;
    let told = 0;
    while (told < waiting.length && room > 0) {
      const next = waiting[told] as Waiting;
      told += 1;
      room -= next.head.length;
      waitingBytes -= next.head.length;
      show(next);
    }
    waiting = waiting.slice(told);
    cancelTell = waiting.length === 0 ? undefined : clock.after(tellMs, tell);
    if (waiting.length === 0) for (const [reader, count] of readers) tellLost(reader, count);
  }

  function show(next: Waiting): void {
    const seen = toSeen(next, requests, redact);
    for (const [reader, count] of readers) {
      if (!reader.sees(next.peer)) continue;
      if (reader.isFull()) {
        count.lost += 1;
        continue;
      }
      tellLost(reader, count);
      reader.onMessage(seen);
    }
  }

  function end(): void {
    tap.take = undefined;
    cancelTell?.();
    cancelTell = undefined;
    waiting = [];
    waitingBytes = 0;
    requests.clear();
  }

  return {
    follow(reader) {
      readers.set(reader, { lost: 0 });
      tap.take = take;
      return () => {
        if (readers.delete(reader) && readers.size === 0) end();
      };
    },
    [Symbol.dispose]() {
      readers.clear();
      end();
    },
  };
}

function tellLost(reader: MessageReader, count: { lost: number }): void {
  if (count.lost === 0 || reader.isFull()) return;
  reader.onLost(count.lost);
  count.lost = 0;
}

/** Copies the part of a message that will be shown: its memory is used again. */
function cutBytes(message: TappedBytes): Pick<Waiting, "bytes" | "head" | "tail"> {
  const most = longestText + unsure;
  if (typeof message === "string") return cutText(message, message.length);
  if (Buffer.isBuffer(message)) {
    const { length } = message;
    if (length <= most) return cutText(message.toString("latin1"), length);
    return {
      bytes: length,
      head: message.toString("latin1", 0, most),
      tail: message.toString("latin1", length - tailBytes),
    };
  }
  const bytes = message.reduce((sum, piece) => sum + piece.length, 0);
  let head = "";
  for (const piece of message) {
    if (head.length >= most) break;
    head += typeof piece === "string" ? piece : piece.toString("latin1", 0, most);
  }
  const last = message.at(-1) ?? "";
  const tail = typeof last === "string" ? last : last.toString("latin1", Math.max(0, last.length - tailBytes));
  return { bytes, head: head.slice(0, most), tail: bytes > most ? tail.slice(-tailBytes) : "" };
}

function cutText(text: string, bytes: number): Pick<Waiting, "bytes" | "head" | "tail"> {
  const most = longestText + unsure;
  if (text.length <= most) return { bytes, head: text, tail: "" };
  return { bytes, head: text.slice(0, most), tail: text.slice(-tailBytes) };
}

function toSeen(next: Waiting, requests: RequestBook, redact: MessageWatchDeps["redact"]): SeenMessage {
  const { peer, way, atMs, bytes, status = null } = next;
  const isCut = next.head.length < bytes;
  const text = Buffer.from(next.head, "latin1").toString("utf8");
  const value = isCut ? undefined : parsed(text);
  const envelope = status === null || value !== undefined ? toEnvelope(next, value) : refusal;
  const asked = requests.note(next, envelope);
  const name = peer.name ?? clientNameIn(value) ?? asked?.name ?? null;
  if (envelope.kind === "request" && asked !== undefined) asked.name = name;
  const clean = redact(text, peer);
  return {
    ...{
      atMs,
      side: peer.side,
      way,
      name: name === null ? null : redact(name.slice(0, longestName), peer),
      bytes,
      status,
    },
    principal: peer.side === "client" ? peer.principal : null,
    instance: peer.side === "server" ? peer.instance : null,
    kind: envelope.kind,
    method: envelope.method ?? asked?.method ?? null,
    id: envelope.id,
    tookMs: envelope.kind === "request" || asked === undefined ? null : next.monotonicMs - asked.atMs,
    text: isCut ? clean.slice(0, Math.max(0, clean.length - unsure)) : clean,
    isCut,
  };
}

const longestName = 200;

/** Undefined for a batch, and for text that is not JSON. */
function parsed(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

interface Envelope {
  readonly kind: MessageKind;
  readonly method: string | null;
  readonly id: string | null;
}

const refusal: Envelope = Object.freeze({ kind: "refusal", method: null, id: null });
const unknown: Envelope = Object.freeze({ kind: "unknown", method: null, id: null });

function toEnvelope({ head, tail }: Waiting, value: JsonObject | undefined): Envelope {
  if (value === undefined) return tail === "" ? unknown : longEnvelope(head, tail);
  const id = typeof value["id"] === "string" || typeof value["id"] === "number" ? JSON.stringify(value["id"]) : null;
  const { method } = value;
  if (typeof method === "string") return { kind: id === null ? "notification" : "request", method, id };
  if (value["error"] !== undefined && value["error"] !== null) return { kind: "error", method: null, id };
  return value["result"] === undefined ? unknown : { kind: "result", method: null, id };
}

const idAtStart = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{0,100}")\s*,/;
const idAtEnd = /,\s*"id"\s*:\s*(\d{1,15}|"[^"\\]{0,100}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
const methodAtStart =
  /^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:\d{1,15}|"[^"\\]{0,100}")\s*,\s*){0,2}"method"\s*:\s*"([^"\\]{1,100})"/;
const answerAtStart =
  /^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:\d{1,15}|"[^"\\]{0,100}")\s*,\s*){0,2}"(result|error)"\s*:/;

/** Of a long message the ends are looked at, where libraries write everything but params and result. */
function longEnvelope(head: string, tail: string): Envelope {
  const id = idAtStart.exec(head)?.[1] ?? idAtEnd.exec(tail)?.[1] ?? null;
  const method = methodAtStart.exec(head)?.[1];
  if (method !== undefined) return { kind: id === null ? "notification" : "request", method, id };
  const answer = answerAtStart.exec(head)?.[1];
  return answer === undefined ? unknown : { kind: answer === "error" ? "error" : "result", method: null, id };
}

function paramsOf(value: JsonObject | undefined): JsonObject | undefined {
  return isJsonObject(value?.["params"]) ? value["params"] : undefined;
}

/** What a client says of itself in `initialize`, and in each modern request. */
function clientNameIn(value: JsonObject | undefined): string | undefined {
  const params = paramsOf(value);
  const meta = params?.["_meta"];
  const info = params?.["clientInfo"] ?? (isJsonObject(meta) ? meta[metaKeys.clientInfo] : undefined);
  const name = isJsonObject(info) ? info["name"] : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

interface Asked {
  readonly method: string | null;
  readonly atMs: number;
  name: string | null;
}

/** Requests that passed, so that their answers are known by their ids. */
interface RequestBook {
  /** Returns the request that a message is, or answers, where it is known. */
  note(message: Waiting, envelope: Envelope): Asked | undefined;
  clear(): void;
}

function createRequestBook(): RequestBook {
  const asked = new Map<string, Asked>();
  return {
    note({ peer, way, monotonicMs }, { kind, method, id }) {
      if (id === null) return undefined;
      if (kind === "request") {
        const entry: Asked = { method, atMs: monotonicMs, name: null };
        if (asked.size >= mostRequests) asked.delete(asked.keys().next().value ?? "");
        asked.set(`${peer.key} ${way} ${id}`, entry);
        return entry;
      }
      const key = `${peer.key} ${way === "in" ? "out" : "in"} ${id}`;
      const entry = asked.get(key);
      asked.delete(key);
      return entry;
    },
    clear: () => asked.clear(),
  };
}
