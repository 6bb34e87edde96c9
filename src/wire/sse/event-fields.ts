import { colon, space } from "../json/characters.ts";
import { GatheredBytes } from "../json/gathered-bytes.ts";
import { isHeaderValue } from "../../kernel/text/header-value.ts";

const newline = Buffer.from("\n");
const longestType = 100;
const longestId = 4_096;

/** The event that is being read, field by field. A class: a stream may be read for a single call, without closures. */
export class EventFields {
  readonly #data = new GatheredBytes();
  readonly #onEvent: (data: Buffer, type: string) => void;
  #hasData = false;
  #type = "";
  #id: string | undefined;
  /** The last `id:` that came with a complete event. */
  lastEventId: string | undefined;
  /** The last `retry:`, in ms. */
  retryMs: number | undefined;

  /** `onEvent` is told of each event that has data; its type is `message` unless the event named another. */
  constructor(onEvent: (data: Buffer, type: string) => void) {
    this.#onEvent = onEvent;
  }

  /** How many bytes of data are held for the event. */
  get length(): number {
    return this.#data.length;
  }

  clear(): void {
    this.#data.clear();
  }

  /** A line without its end. An empty one completes the event. */
  addLine(line: Buffer): void {
    if (line.length === 0) this.#complete();
    else this.#addField(line);
  }

  #complete(): void {
    if (this.#id !== undefined) this.lastEventId = this.#id;
    if (this.#hasData) {
      const whole = this.#data.take();
      this.#hasData = false;
      if (whole.length > 0) this.#onEvent(whole, this.#type === "" ? "message" : this.#type);
    }
    this.#type = "";
  }

  #addField(line: Buffer): void {
    const nameEnd = line.indexOf(colon);
    if (nameEnd === 0) return;
    const name = line.toString("latin1", 0, nameEnd === -1 ? line.length : Math.min(nameEnd, 6));
    const valueStart = nameEnd === -1 ? line.length : nameEnd + (line[nameEnd + 1] === space ? 2 : 1);
    switch (name) {
      case "data":
        if (this.#hasData) this.#data.append(newline);
        this.#hasData = true;
        this.#data.append(line.subarray(valueStart));
        return;
      case "event":
        this.#type = line.toString("utf8", valueStart, Math.min(line.length, valueStart + longestType));
        return;
      case "id":
        this.#id = sendableId(line.subarray(valueStart)) ?? this.#id;
        return;
      case "retry": {
        const text = line.toString("latin1", valueStart, Math.min(line.length, valueStart + 12));
        if (/^\d{1,9}$/.test(text)) this.retryMs = Number(text);
        return;
      }
    }
  }
}

/** An id that no header may hold is ignored: the stream is then resumed after the id before it. */
function sendableId(bytes: Buffer): string | undefined {
  const id = bytes.length > longestId ? "\0" : bytes.toString("latin1");
  return isHeaderValue(id) ? id : undefined;
}
