import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { until } from "../harness/until.ts";

/** One event of a stream, as it came. */
export interface StreamEvent {
  readonly id: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly message: any;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: readonly StreamEvent[];
  /** What arrived, as JSON-RPC messages. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly messages: readonly any[];
  /** Resolves with the first message for which the predicate holds. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  next(wanted: (message: any) => boolean): Promise<any>;
  readonly ended: boolean;
  /** Closes the connection, as a client that goes away does. */
  close(): void;
}

/** Sends a request and reads its answer while it comes: an event stream, or one JSON text. */
export async function openStream(
  url: string,
  options: {
    readonly method?: "GET" | "POST";
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<OpenStream> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method: options.method ?? "POST",
        agent: false,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...options.headers,
        },
      },
      (response) => {
        const events: StreamEvent[] = [];
        let text = "";
        let ended = false;
        const take = (block: string): void => {
          const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n");
          const id = /^id: ?(.*)$/m.exec(block)?.[1];
          if (data !== "" || id !== undefined)
            events.push({ id, message: data === "" ? undefined : (JSON.parse(data) as unknown) });
        };
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (response.headers["content-type"]?.startsWith("text/event-stream") !== true) return;
          const blocks = text.split("\n\n");
          text = blocks.pop() ?? "";
          for (const block of blocks) take(block);
        });
        response.on("close", () => {
          if (text.startsWith("{")) events.push({ id: undefined, message: JSON.parse(text) as unknown });
          ended = true;
        });
        response.on("error", () => undefined);
        const stream: OpenStream = {
          status: response.statusCode ?? 0,
          headers: response.headers,
          events,
          get messages() {
            return events.map(({ message }) => message as unknown).filter((message) => message !== undefined);
          },
          next: async (wanted) =>
            await until(() => stream.messages.find((message) => wanted(message)) as object | undefined),
          get ended() {
            return ended;
          },
          close: () => request.destroy(),
        };
        resolve(stream);
      },
    );
    request.on("error", reject);
    request.end(options.body === undefined ? undefined : JSON.stringify(options.body));
  });
}

/** A legacy session made by hand, to see every message of it. */
export interface RawSession {
  readonly id: string;
  /** Sends a request and reads its answer while it comes. */
  call(id: string | number, method: string, params?: object): Promise<OpenStream>;
  /** Sends a notification, or an answer. */
  say(message: object): Promise<void>;
  /** Opens the GET stream. */
  listen(lastEventId?: string): Promise<OpenStream>;
  end(): Promise<void>;
}

export async function openSession(
  url: string,
  options: {
    readonly capabilities?: object;
    readonly revision?: string;
    readonly headers?: Record<string, string>;
    /** What the client calls itself. */
    readonly client?: string;
  } = {},
): Promise<RawSession> {
  const revision = options.revision ?? "2025-11-25";
  const params = {
    protocolVersion: revision,
    capabilities: options.capabilities ?? {},
    clientInfo: { name: options.client ?? "raw", version: "1" },
  };
  const first = await openStream(url, {
    body: { jsonrpc: "2.0", id: 0, method: "initialize", params },
    headers: options.headers ?? {},
  });
  const id = first.headers["mcp-session-id"] as string;
  const headers = { ...options.headers, "mcp-session-id": id, "mcp-protocol-version": revision };
  const post = async (body: object): Promise<OpenStream> =>
    await openStream(url, { headers, body: { jsonrpc: "2.0", ...body } });
  const say = async (message: object): Promise<void> => {
    const answer = await post(message);
    await until(() => answer.ended);
  };
  await say({ method: "notifications/initialized" });
  return {
    id,
    call: async (requestId, method, callParams = {}) => await post({ id: requestId, method, params: callParams }),
    say,
    listen: async (lastEventId) =>
      await openStream(url, {
        method: "GET",
        headers: {
          ...headers,
          accept: "text/event-stream",
          ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        },
      }),
    async end() {
      const request = httpRequest(url, { method: "DELETE", headers, agent: false });
      await new Promise((resolve, reject) => {
        request.on("response", (response) => response.resume().on("close", resolve));
        request.on("error", reject);
        request.end();
      });
    },
  };
}

/** One modern request, read while its answer comes. */
export async function modernStream(
  url: string,
  id: string | number,
  method: string,
  params: Record<string, unknown> = {},
  capabilities: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...(params["_meta"] as object | undefined),
  };
  const name = params["name"] ?? params["uri"];
  return await openStream(url, {
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
      ...headers,
    },
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta } },
  });
}
