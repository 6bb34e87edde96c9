// One message per line on stdin and stdout.

import { StringDecoder } from "node:string_decoder";

/** @param {import("./server.mjs").BadServer} server */
export function serveStdio(server) {
  const { options } = server;
  // A client that is gone is the normal end, and a closed stdout is something that a tool does on purpose.
  process.stdout.on("error", () => options["ignore-eof"] || process.exit(0));
  if (options.banner !== undefined) process.stdout.write(`${options.banner}\n`);
  if (options["never-read-stdin"]) return void setInterval(() => {}, 60_000);

  const session = {
    id: "stdio",
    memory: new Map(),
    push: (text) => void write(frame(text)),
    end: () => {},
  };
  server.sessions.add(session);
  /** @type {Map<unknown, AbortController>} */
  const requests = new Map();
  readLines(process.stdin, (line) => {
    const { method, id, params } = parse(line) ?? {};
    if (method === "notifications/cancelled") requests.get(params?.requestId)?.abort();
    void server.receive(line, createWire(method === undefined ? undefined : id));
  });
  process.stdin.on("end", () => {
    if (options["ignore-eof"]) setInterval(() => {}, 60_000);
    else process.exit(0);
  });

  function createWire(id) {
    const gone = new AbortController();
    if (id !== undefined) requests.set(id, gone);
    const end = () => requests.delete(id);
    return {
      kind: "stdio",
      session,
      gone: gone.signal,
      frame,
      write,
      end,
      finish(text) {
        end();
        void write(frame(text));
      },
    };
  }
}

const frame = (text, eol = "\n") => Buffer.from(`${text}${eol}`);

/** Waits for the pipe: a tool that writes without end must not fill this process's memory. */
function write(bytes) {
  return new Promise((resolve) => process.stdout.write(bytes, () => resolve(undefined)));
}

function readLines(stream, onLine) {
  const decoder = new StringDecoder("utf8");
  /** @type {string[]} Pieces of a line that is not complete: joined once, so that long lines cost linear time. */
  let pieces = [];
  stream.on("data", (chunk) => {
    const lines = decoder.write(chunk).split("\n");
    pieces.push(lines[0] ?? "");
    for (const line of lines.slice(1)) {
      const complete = pieces.join("");
      pieces = [line];
      if (complete.trim() !== "") onLine(complete);
    }
  });
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
