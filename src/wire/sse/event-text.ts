import { carriageReturn, lineFeed } from "../json/characters.ts";

/** The media type of event streams (WHATWG HTML, 9.2). */
export const eventStreamType = "text/event-stream";

/** Headers of every event stream that we write; they tell proxies on the way not to buffer it. */
export const eventStreamHeaders: readonly string[] = [
  "Content-Type",
  eventStreamType,
  "Cache-Control",
  "no-cache, no-transform",
  "X-Accel-Buffering",
  "no",
];

/**
 * A comment that is sent while there is nothing else to send, so that proxies on the way do not close the stream as
 * idle.
 */
export const keepAliveText = ": keep-alive\n\n";

/**
 * One event (WHATWG HTML, 9.2.5) as latin1 text. `id` is the position from which a client that reconnects can resume.
 */
export function eventText(type: string, data: string, id?: string): string {
  return `${eventHead(type, id)}${toEventData(data)}\n\n`;
}

/** One event in pieces, for data that is too large to be joined. Write the pieces in order. */
export function eventPieces(type: string, data: readonly (string | Buffer)[]): (string | Buffer)[] {
  const pieces: (string | Buffer)[] = [eventHead(type, undefined)];
  for (const piece of data) addLines(pieces, piece);
  pieces.push("\n\n");
  return pieces;
}

/**
 * An event with an id but no data, so that a client can resume from the very start, and the delay before it
 * reconnects.
 */
export function primeText(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

function eventHead(type: string, id: string | undefined): string {
  return id === undefined ? `event: ${type}\ndata: ` : `event: ${type}\nid: ${id}\ndata: `;
}

/** JSON may contain line breaks between its values; each line becomes a data line of its own. */
function toEventData(message: string): string {
  return message.includes("\n") || message.includes("\r") ? message.replace(/\r\n|\r|\n/g, dataLine) : message;
}

const dataLine = "\ndata: ";

/** Adds data in pieces; the bytes between line breaks are not copied. */
function addLines(pieces: (string | Buffer)[], piece: string | Buffer): void {
  if (typeof piece === "string") {
    pieces.push(toEventData(piece));
    return;
  }
  let start = 0;
  for (let at = nextLineEnd(piece, 0); at !== -1; at = nextLineEnd(piece, start)) {
    if (at > start) pieces.push(piece.subarray(start, at));
    pieces.push(dataLine);
    start = at + (piece[at] === carriageReturn && piece[at + 1] === lineFeed ? 2 : 1);
  }
  if (start < piece.length) pieces.push(piece.subarray(start));
}

function nextLineEnd(bytes: Buffer, from: number): number {
  const feed = bytes.indexOf(lineFeed, from);
  const carriage = bytes.indexOf(carriageReturn, from);
  return feed === -1 || carriage === -1 ? Math.max(feed, carriage) : Math.min(feed, carriage);
}
