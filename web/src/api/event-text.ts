/** An event of a stream (server-sent events). */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: string;
}

/** Reads a stream of events piece by piece; calls back for each that is whole. Rejects when the stream breaks. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event !== undefined) onEvent(event);
    }
  }
}

function parseBlock(block: string): StreamEvent | undefined {
  let id: string | undefined;
  let type = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ""] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
    if (name === "id") id = value;
    else if (name === "event") type = value;
    else if (name === "data") data.push(value);
  }
  if (id === undefined && data.length === 0) return undefined;
  return { id, type, data: data.join("\n") };
}
