import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** One request as it came. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Header lines, in lower case. */
  readonly head: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever was received
  readonly message: any;
}

/** Answers a request byte by byte as it likes; true when it has. */
export type RawAnswer = (request: RawRequest, socket: Socket) => boolean | Promise<boolean>;

export interface RawHttpServer {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
}

/**
 * An MCP server of one era whose HTTP is written by hand, for what no HTTP library sends. What `answer` leaves is
 * answered as usual.
 */
export async function serveRaw(era: "legacy" | "modern", answer: RawAnswer): Promise<RawHttpServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    let held = Buffer.alloc(0);
    socket.on("data", async (chunk) => {
      held = Buffer.concat([held, chunk]);
      for (let request = takeRequest(); request !== undefined; request = takeRequest()) {
        requests.push(request);
        if (!(await answer(request, socket))) socket.write(usualAnswer(era, request));
      }
    });

    function takeRequest(): RawRequest | undefined {
      const end = held.indexOf("\r\n\r\n");
      if (end === -1) return undefined;
      const head = held.toString("latin1", 0, end).toLowerCase();
      const length = Number(/content-length: *(\d+)/.exec(head)?.[1] ?? 0);
      if (held.length < end + 4 + length) return undefined;
      const [method = "", path = ""] = held.toString("latin1", 0, end).split(" ");
      const body = held.toString("utf8", end + 4, end + 4 + length);
      held = held.subarray(end + 4 + length);
      return { method, path, head, message: body === "" ? undefined : (JSON.parse(body) as unknown) };
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, requests, sockets };
}

/** A whole response with a JSON body. */
export function jsonResponse(body: string, extraHeaders = "", status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${extraHeaders}\r\n${body}`;
}

export function resultText(id: unknown, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

function usualAnswer(era: "legacy" | "modern", { method, message }: RawRequest): string {
  if (method !== "POST") return "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n";
  if (message?.id === undefined || message.method === undefined)
    return "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
  const result = usualResults[era][message.method as string];
  if (result !== undefined) return jsonResponse(resultText(message.id, JSON.stringify(result)));
  const error = { code: -32601, message: "unknown method" };
  return jsonResponse(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
}

const serverInfo = { name: "raw", version: "1" };
const capabilities = { tools: {}, resources: { subscribe: true }, logging: {} };
const calling = { "tools/call": { resultType: "complete", content: [{ type: "text", text: "ok" }] } };

const usualResults: Readonly<Record<"legacy" | "modern", Readonly<Record<string, object>>>> = {
  legacy: { initialize: { protocolVersion: "2025-06-18", capabilities, serverInfo }, ping: {}, ...calling },
  modern: {
    "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities, serverInfo },
    ...calling,
  },
};
