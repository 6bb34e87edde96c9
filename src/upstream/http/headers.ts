/** Headers of a response as they came: name, value, name, value. */
export type RawHeaders = readonly Buffer[];

/** The first value of that header, given in lower case; undefined when it is not there. */
export function findHeader(headers: RawHeaders, name: string): string | undefined {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const key = headers[at] as Buffer;
    // The length tells most names apart before any string is made.
    if (key.length === name.length && key.toString("latin1").toLowerCase() === name)
      return (headers[at + 1] as Buffer).toString("latin1");
  }
  return undefined;
}

export function findHeaders(headers: RawHeaders, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const key = headers[at] as Buffer;
    if (key.length === name.length && key.toString("latin1").toLowerCase() === name)
      values.push((headers[at + 1] as Buffer).toString("latin1"));
  }
  return values;
}

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
