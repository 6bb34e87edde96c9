import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** What the endpoint was asked. */
export interface ChatRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
  /** What the user message says of the tool. */
  readonly tool: { readonly server: string; readonly tool: string; readonly description: string };
}

/** How it answers: a status and a body, or nothing at all. */
export type ChatReply = { readonly status: number; readonly body: unknown } | "hang";

export interface ChatEndpointServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  /** The most requests that it had open at one time. */
  readonly mostOpen: number;
}

/** A real HTTP server that speaks the chat API of OpenAI. */
export async function startChatEndpoint(reply: (request: ChatRequest) => ChatReply): Promise<ChatEndpointServer> {
  const requests: ChatRequest[] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer((request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.on("close", () => (open -= 1));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ChatRequest["body"];
      const tool = JSON.parse(body.messages.at(-1)?.content ?? "{}") as ChatRequest["tool"];
      const asked = { path: request.url ?? "", headers: request.headers, body, tool };
      requests.push(asked);
      const answer = reply(asked);
      if (answer === "hang") return;
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get mostOpen() {
      return mostOpen;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A usual answer: one message, and what it took. */
export function says(content: string, tokens = 600): ChatReply {
  const message = { role: "assistant", content };
  return { status: 200, body: { choices: [{ index: 0, message }], usage: { total_tokens: tokens } } };
}
