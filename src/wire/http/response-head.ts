/** The head of a response. Kept as the text that came and searched when asked: most headers nobody asks for. */
export class ResponseHead {
  readonly status: number;
  readonly #text: string;
  readonly #lower: string;

  /** `text`: status line and header lines in latin1, seen to be well-formed, without the empty line. */
  constructor(status: number, text: string) {
    this.status = status;
    this.#text = text;
    this.#lower = text.toLowerCase();
  }

  /** The first value of that header, given in lower case; undefined when it is not there. */
  get(name: string): string | undefined {
    const at = this.#lower.indexOf(`\r\n${name}:`);
    return at === -1 ? undefined : this.#valueAt(at + name.length + 3);
  }

  getAll(name: string): string[] {
    const values: string[] = [];
    for (let at = this.#lower.indexOf(`\r\n${name}:`); at !== -1; at = this.#lower.indexOf(`\r\n${name}:`, at + 1))
      values.push(this.#valueAt(at + name.length + 3));
    return values;
  }

  /** Optional white space is no part of a value (RFC 9110, section 5.5). */
  #valueAt(start: number): string {
    const end = this.#text.indexOf("\r\n", start);
    return this.#text.slice(start, end === -1 ? undefined : end).replace(outerSpace, "");
  }
}

const outerSpace = /^[ \t]+|[ \t]+$/g;

/** Where nothing has come yet. */
export const noHead = new ResponseHead(0, "");

export function isEventStreamType(contentType: string): boolean {
  return (
    contentType.startsWith("text/event-stream") || contentType.trimStart().toLowerCase().startsWith("text/event-stream")
  );
}

/** A copy of a flat list with those headers put in place of any of the same name. */
export function withHeaders(headers: readonly string[], extra: Readonly<Record<string, string>>): string[] {
  const added = new Map(Object.entries(extra).map(([name, value]) => [name.toLowerCase(), value]));
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    if (!added.has(name)) kept.push(name, headers[at + 1] as string);
  }
  return [...kept, ...[...added].flat()];
}
