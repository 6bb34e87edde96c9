import { request as sendHttp, type IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { openOwnerSocket, type DoorOf } from "./owner-client.ts";

/** One request to the REST API of a gateway. */
export interface RestRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RestAnswer {
  readonly status: number;
  readonly text: string;
}

/** How requests reach a gateway. Rejects with GATEWAY_UNREACHABLE. */
export interface RestWay {
  /** The gateway's address, without a slash at its end. */
  readonly base: string;
  /** Whether `open` gives an answer as it comes, and not only when it is whole. */
  readonly isStreaming: boolean;
  send(request: RestRequest): Promise<RestAnswer>;
  /** The same with an answer that is read as it comes. The signal ends it. */
  open(request: RestRequest, signal: AbortSignal): Promise<OpenAnswer>;
}

export interface OpenAnswer {
  readonly status: number;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Through the door of the data directory's owner. */
export function ownersWay(holder: DoorOf): RestWay {
  const base = holder.url ?? "";
  const unreachable = (why: string): GatewayError =>
    new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${holder.pid} ${why}`);

  async function open({ method, path, headers, body }: RestRequest, signal?: AbortSignal): Promise<IncomingMessage> {
    const { socket } = await openOwnerSocket(holder, "rest", "/mcp");
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const given = { ...headers, ...length, host: base.replace(/^https?:\/\//, ""), connection: "close" };
    return await new Promise((resolve, reject) => {
      const sent = sendHttp({ createConnection: () => socket, method, path, headers: given }, resolve);
      sent.on("error", () => reject(unreachable("ended without answering")));
      const leave = (): void => void sent.destroy();
      signal?.addEventListener("abort", leave, { once: true });
      if (signal?.aborted === true) leave();
      sent.end(body);
    });
  }

  return {
    base,
    isStreaming: true,
    async send(request) {
      const response = await open(request);
      try {
        return { status: response.statusCode ?? 0, text: await readAll(response) };
      } catch {
        throw unreachable("ended in the middle of its answer");
      }
    },
    async open(request, signal) {
      const response = await open(request, signal);
      return { status: response.statusCode ?? 0, chunks: response };
    },
  };
}

/** The text of an answer. */
export async function readAll(chunks: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read).toString("utf8");
}
