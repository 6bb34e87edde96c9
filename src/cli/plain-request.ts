import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

export interface PlainRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** More says nothing that a check asks for. */
const longestAnswer = 256 * 1024;

/**
 * One request by a connection of its own. Redirects are not followed, so that what is said is said by that address. Not
 * by fetch, which refuses some ports that gateways may have. Rejects with the system's error, and with the signal's.
 */
export async function requestPlainly({ url, method, headers, body, signal }: PlainRequest): Promise<PlainAnswer> {
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request(url, { method, headers, signal, agent: false }, resolve);
    asked.on("error", reject);
    asked.end(body);
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > longestAnswer) break;
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}
