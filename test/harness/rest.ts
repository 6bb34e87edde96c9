import { send, type RawAnswer } from "./rpc.ts";
import { until } from "./until.ts";

export type Headers = Readonly<Record<string, string>>;

export async function get(url: string, headers: Headers = {}): Promise<RawAnswer> {
  return await send(url, { method: "GET", headers });
}

/** POST with JSON; the body may be given as text, to be sent as it is. */
export async function post(url: string, body: unknown = {}, headers: Headers = {}): Promise<RawAnswer> {
  return await send(url, {
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** `POST /execute/{name}`, the name encoded as one segment. */
export async function run(
  gatewayUrl: string,
  name: string,
  body: unknown = {},
  headers: Headers = {},
): Promise<RawAnswer> {
  return await post(`${gatewayUrl}/execute/${encodeURIComponent(name)}`, body, headers);
}

/** Waits until every server of the gateway is online. */
export async function untilOnline(gatewayUrl: string, headers: Headers = {}): Promise<void> {
  await until(async () => {
    const { json } = await get(`${gatewayUrl}/api/servers`, headers);
    const servers = json.servers as readonly { status: string }[];
    return servers.length > 0 && servers.every(({ status }) => status === "online" || status === "disabled");
  });
}

/** The events of a stream that has ended. */
export function toEvents(text: string): { readonly event: string; readonly data: string }[] {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data:"))
    .map((block) => {
      const lines = block.split("\n");
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      return { event: lines.find((line) => line.startsWith("event: "))?.slice(7) ?? "message", data: data.join("\n") };
    });
}
