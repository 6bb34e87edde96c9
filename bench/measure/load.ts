import { connect, type Socket } from "node:net";

export interface LoadResult {
  readonly requests: number;
  readonly durationMs: number;
  /** Sorted, in ms. */
  readonly latencies: readonly number[];
}

/**
 * Sends the same request over `connections` keep-alive sockets, one at a time on each, until `requests` were
 * answered; several requests by turns. Raw, so that the load costs little.
 */
export async function load(
  url: string,
  body: string | readonly string[],
  options: {
    connections: number;
    requests: number;
    headers?: Readonly<Record<string, string>>;
    path: string;
    method?: "GET" | "POST";
    /** So many are begun each second, as far as they are answered fast enough; without, as many as can be. */
    perSecond?: number;
  },
): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const messages = [body].flat().map((one) => toMessage(hostname, port, one, options));
  const latencies: number[] = [];
  let started = 0;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: options.connections }, async () => {
      const socket = await open(hostname, Number(port));
      while (started < options.requests) {
        const dueMs = options.perSecond === undefined ? 0 : startedMs + (started / options.perSecond) * 1_000;
        const message = messages[started % messages.length] ?? Buffer.alloc(0);
        started += 1;
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        const sentMs = performance.now();
        await exchange(socket, message);
        latencies.push(performance.now() - sentMs);
      }
      socket.destroy();
    }),
  );
  return {
    requests: latencies.length,
    durationMs: performance.now() - startedMs,
    latencies: latencies.sort((left, right) => left - right),
  };
}

/**
 * `clients` keep-alive sockets, each of which sends the request once a second, for some seconds; evenly spread, as
 * people are who do not know of each other.
 */
export async function pace(
  url: string,
  body: string,
  { clients, seconds, path }: { clients: number; seconds: number; path: string },
): Promise<void> {
  const { hostname, port } = new URL(url);
  const message = toMessage(hostname, port, body, { path });
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const startMs = performance.now() + (index / clients) * 1_000;
      const socket = await open(hostname, Number(port));
      for (let second = 0; second < seconds; second += 1) {
        const waitMs = startMs + second * 1_000 - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        await exchange(socket, message);
      }
      socket.destroy();
    }),
  );
}

function toMessage(
  hostname: string,
  port: string,
  body: string,
  options: { path: string; method?: "GET" | "POST"; headers?: Readonly<Record<string, string>> },
): Buffer {
  const head = [
    `${options.method ?? "POST"} ${options.path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    ...Object.entries(options.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function open(host: string, port: number): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Waits for one answer. One that takes the gateway more than a second comes in chunks, as an event stream. */
async function exchange(socket: Socket, message: Buffer): Promise<void> {
  return await new Promise((resolve, reject) => {
    let head = "";
    let missing = -1;
    let isChunked = false;
    const isOver = (chunk: Buffer): boolean => {
      if (isChunked) return (head = (head + chunk.toString("latin1")).slice(-lastChunk.length)) === lastChunk;
      missing -= chunk.length;
      return missing <= 0;
    };
    const isOverWithHead = (chunk: Buffer): boolean => {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) return false;
      if (!head.startsWith("HTTP/1.1 200")) throw new Error(head.slice(0, 1_500));
      const length = /^content-length: (\d+)/im.exec(head.slice(0, end))?.[1];
      isChunked = length === undefined;
      missing = Number(length ?? 0) - (head.length - end - 4);
      return isChunked ? isOver(Buffer.alloc(0)) : missing <= 0;
    };
    const onData = (chunk: Buffer): void => {
      try {
        if (!(missing === -1 && !isChunked ? isOverWithHead(chunk) : isOver(chunk))) return;
      } catch (error) {
        reject(error);
      }
      socket.off("data", onData);
      socket.off("error", reject);
      resolve();
    };
    socket.on("data", onData);
    socket.once("error", reject);
    socket.write(message);
  });
}

const lastChunk = "\r\n0\r\n\r\n";
