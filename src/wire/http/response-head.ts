/** The head of a response. It is kept as text and searched on demand, because most headers are never looked at. */
export class ResponseHead {
  readonly status: number;
  readonly #text: string;
  readonly #lower: string;

  /**
   * `text` holds the status line and the header lines in latin1, already checked, without the empty line at the end.
   */
  constructor(status: number, text: string) {
    this.status = status;
    this.#text = text;
    this.#lower = text.toLowerCase();
  }

  /** The first value of a header; undefined when it is absent. `name` must be lower case. */
  get(name: string): string | undefined {
    const at = this.#lower.indexOf(`\r\n${name}:`);
    return at === -1 ? undefined : this.#valueAt(at + name.length + 3);
  }

  /** All values of a header, in order. `name` must be lower case. */
  getAll(name: string): string[] {
    const values: string[] = [];
    for (let at = this.#lower.indexOf(`\r\n${name}:`); at !== -1; at = this.#lower.indexOf(`\r\n${name}:`, at + 1))
      values.push(this.#valueAt(at + name.length + 3));
    return values;
  }

  /** White space around a value is not part of it (RFC 9110, section 5.5). */
  #valueAt(start: number): string {
    const end = this.#text.indexOf("\r\n", start);
    return this.#text.slice(start, end === -1 ? undefined : end).replace(outerSpace, "");
  }
}

const outerSpace = /^[ \t]+|[ \t]+$/g;

/** The head of a response that has not begun. */
export const noHead = new ResponseHead(0, "");

/**
 * Whether a Content-Type is that of an event stream. The first comparison settles nearly all cases without making a
 * string.
 */
export function isEventStreamType(contentType: string): boolean {
  return (
    contentType.startsWith("text/event-stream") || contentType.trimStart().toLowerCase().startsWith("text/event-stream")
  );
}

/**
 * A copy of a flat list of headers with `extra` added, replacing headers of the same names. Header names in `headers`
 * are in lower case.
 */
export function withHeaders(headers: readonly string[], extra: Readonly<Record<string, string>>): string[] {
  const added = new Map(Object.entries(extra).map(([name, value]) => [name.toLowerCase(), value]));
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    if (!added.has(name)) kept.push(name, headers[at + 1] as string);
  }
  return [...kept, ...[...added].flat()];
}
