import { carriageReturn, lineFeed } from "../json/characters.ts";

/** Of every event stream that we write: nobody on the way may keep it back. */
export const eventStreamHeaders: readonly string[] = [
  "Content-Type",
  "text/event-stream",
  "Cache-Control",
  "no-cache, no-transform",
  "X-Accel-Buffering",
  "no",
];

/** A comment, while nothing else is said: so that nobody on the way takes the stream for dead. */
export const keepAliveText = ": keep-alive\n\n";

/** One event of a stream (WHATWG HTML, 9.2.5) as latin1 text. `id`: where a client that comes back can go on from. */
export function eventText(type: string, data: string, id?: string): string {
  return `${eventHead(type, id)}${toEventData(data)}\n\n`;
}

/** The same for data that is too large to be joined: to be written one after the other. */
export function eventPieces(type: string, data: readonly (string | Buffer)[]): (string | Buffer)[] {
  const pieces: (string | Buffer)[] = [eventHead(type, undefined)];
  for (const piece of data) addLines(pieces, piece);
  pieces.push("\n\n");
  return pieces;
}

/** An id without data, so that the client can come back from the start, and how long it is to wait before it does. */
export function primeText(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

function eventHead(type: string, id: string | undefined): string {
  return id === undefined ? `event: ${type}\ndata: ` : `event: ${type}\nid: ${id}\ndata: `;
}

/** Whoever wrote the JSON may have laid it out over lines; each is a data line of its own. */
function toEventData(message: string): string {
  return message.includes("\n") || message.includes("\r") ? message.replace(/\r\n|\r|\n/g, dataLine) : message;
}

const dataLine = "\ndata: ";

/** The bytes between line ends are not copied. */
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
