import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { send, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

/** A client of HTTP+SSE by hand, to see everything that comes. */
export interface RawSse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The URL that the first event gives, as it stands there. */
  readonly announced: string;
  /** The same, whole. */
  readonly messagesUrl: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly messages: readonly any[];
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  next(wanted: (message: any) => boolean): Promise<any>;
  /** Posts a message as it stands, or as JSON. */
  post(message: string | object, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
  /** Posts a request and waits for its answer. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  call(id: string | number, method: string, params?: object): Promise<any>;
  initialize(capabilities?: object, revision?: string): Promise<void>;
  readonly ended: boolean;
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens an event stream, and reads it up to the URL that messages go to, or to the end of a refusal. */
export async function openSse(url: string, headers: Readonly<Record<string, string>> = {}): Promise<RawSse> {
  const { response, close } = await get(url, headers);
  const messages: unknown[] = [];
  let announced: string | undefined;
  let rest = "";
  let ended = false;
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n");
      const event = /^event: ?(.*)$/m.exec(block)?.[1];
      if (event === "endpoint") announced = data;
      else if (event === "message") messages.push(JSON.parse(data));
    }
  });
  response.on("error", () => undefined);
  response.on("close", () => (ended = true));
  await until(() => announced !== undefined || ended);
  const messagesUrl = new URL(announced ?? "", url).href;
  const client: RawSse = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    announced: announced ?? "",
    messagesUrl,
    messages,
    next: async (wanted) => await until(() => messages.find((message) => wanted(message)) as object | undefined),
    post: async (message, more) =>
      await send(messagesUrl, {
        headers: { "content-type": "application/json", ...headers, ...more },
        body: typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message }),
      }),
    async call(id, method, params = {}) {
      const { status, text } = await client.post({ id, method, params });
      if (status !== 202) throw new Error(`${method} was answered with ${status}: ${text}`);
      return await client.next((message) => message.id === id);
    },
    async initialize(capabilities = {}, revision = "2024-11-05") {
      const clientInfo = { name: "raw", version: "1" };
      const { result } = await client.call("init", "initialize", {
        protocolVersion: revision,
        capabilities,
        clientInfo,
      });
      if (result.protocolVersion !== revision) throw new Error(`negotiated ${String(result.protocolVersion)}`);
      await client.post({ method: "notifications/initialized" });
    },
    get ended() {
      return ended;
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close,
  };
  return client;
}

async function get(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ response: IncomingMessage; close: () => void }> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest(url, { agent: false, headers: { accept: "text/event-stream", ...headers } });
    request.on("response", (response) => resolve({ response, close: () => void request.destroy() }));
    request.on("error", reject);
    request.end();
  });
}
