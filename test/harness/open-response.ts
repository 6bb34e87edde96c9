import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

/** A response of a real server, before its head is written, and the client that waits for it. */
export interface OpenResponse {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client's end, once the head has come. It reads nothing before it is told to (`resume`). */
  client(): Promise<IncomingMessage>;
  /** What the client has read so far, as latin1. */
  received(): string;
}

/** Opens responses that are closed, with their servers, after the test. Call it at the top of a test file. */
export function createResponses(): (headers?: Record<string, string>) => Promise<OpenResponse> {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  return async (headers = {}) => {
    const server = createServer();
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const asked = get({ host: "127.0.0.1", port, agent: false, headers });
    const answered = once(asked, "response") as Promise<[IncomingMessage]>;
    answered.catch(() => undefined);
    const [request, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
    let text = "";
    let listened = false;
    return {
      request,
      response,
      async client() {
        const [client] = await answered;
        if (!listened) {
          listened = true;
          client.on("error", () => undefined);
          client.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
          client.pause();
        }
        return client;
      },
      received: () => text,
    };
  };
}
