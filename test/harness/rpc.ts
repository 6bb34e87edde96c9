import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON, or the last message of an event stream; undefined when it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  readonly json: any;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/**
 * As clients do: the gateway asks the kernel about each new connection, which takes longer than most answers. A
 * connection that waits for a request is given up long before the gateway would.
 */
const connections = new Agent({ keepAlive: true, timeout: 1_000, scheduling: "lifo" });

/** One HTTP request, byte for byte as asked, with nothing added that was not asked for. */
export async function send(url: string, options: RawRequest = {}): Promise<RawAnswer> {
  return await new Promise((resolve, reject) => {
    const method = options.method ?? "POST";
    // Of other requests Node announces no body, which would be read as the next request.
    const isWhole = options.body === undefined || ["POST", "PUT", "PATCH"].includes(method);
    const request = httpRequest(
      url,
      {
        method,
        headers: { ...options.headers } as Record<string, string>,
        agent: isWhole && connections,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const isStream = response.headers["content-type"]?.startsWith("text/event-stream") === true;
          const json = isStream ? lastMessage(text) : parse(text);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
        });
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

/** An answer that takes long comes as the last event of a stream. */
function lastMessage(text: string): unknown {
  const data = [...text.matchAll(/^data: ?(.+)$/gm)].map(([, line]) => line ?? "");
  return parse(data.at(-1) ?? "");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

let lastId = 0;

/** One legacy JSON-RPC request without a session. `params` may be given as text, to be sent as it is. */
export async function rpc(
  url: string,
  method: string,
  params: unknown = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  lastId += 1;
  const body = `{"jsonrpc":"2.0","id":${lastId},"method":${JSON.stringify(method)},"params":${typeof params === "string" ? params : JSON.stringify(params)}}`;
  return await send(url, { headers: { "content-type": "application/json", ...headers }, body });
}

/** One request of revision 2026-07-28, with its envelope and headers. */
export async function modernRpc(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  capabilities: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  lastId += 1;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...(params["_meta"] as object | undefined),
  };
  const name = params["name"] ?? params["uri"];
  return await send(url, {
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params: { ...params, _meta: meta } }),
  });
}

/** execute_mcp_tool at `/mcp`; the tool's result. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export async function execute(gatewayUrl: string, toolPath: string, args: unknown = {}): Promise<any> {
  const answer = await rpc(`${gatewayUrl}/mcp`, "tools/call", {
    name: "execute_mcp_tool",
    arguments: { tool_path: toolPath, arguments: args },
  });
  return answer.json?.result ?? answer.json;
}
