/** An event of a stream (server-sent events). */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: string;
}

/** Of two line breaks, less one character. */
const longestBreak = 3;

/** Reads a stream of events piece by piece; calls back for each that is whole. Rejects when the stream breaks. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  // An event may be 30 MB long and come in a thousand pieces: they are joined once it is whole.
  let pieces: string[] = [];
  let end = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    pieces.push(value);
    const seam = end + value;
    end = seam.slice(-longestBreak);
    if (!/\n\r?\n/.test(seam)) continue;
    const blocks = pieces.join("").split(/\r?\n\r?\n/);
    pieces = [blocks.pop() ?? ""];
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
