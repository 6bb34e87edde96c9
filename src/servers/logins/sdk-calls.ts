import { GatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import type { Outgoing } from "./outgoing.ts";

/** The SDK's requests, sent by our rules. */
export function toFetch(outgoing: Outgoing, signal: AbortSignal) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const body = toText(init.body);
    const answer = await outgoing(
      String(url),
      { method: init.method === "POST" ? "POST" : "GET", headers, ...(body === undefined ? {} : { body }) },
      signal,
    );
    const isBodyless = answer.status === 204 || answer.status === 304;
    return new Response(isBodyless ? null : answer.body, {
      status: answer.status,
      headers: { "content-type": answer.headers["content-type"] ?? "application/octet-stream" },
    });
  };
}

/** The SDK sends forms and JSON, nothing else. */
function toText(body: RequestInit["body"]): string | undefined {
  if (body instanceof URLSearchParams) return body.toString();
  return typeof body === "string" ? body : undefined;
}

/** What the SDK throws, in one sentence of ours: its own may hold whole bodies. */
export async function explained<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted || error instanceof GatewayError) throw error;
    throw new GatewayError("LOGIN_FAILED", `the login failed: ${describe(error)}`, { cause: error });
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "for no reason that is known";
  const { name } = error;
  if (name === "IssuerMismatchError") return "the authorization server's metadata is that of another one";
  if ("status" in error && "body" in error && typeof error.body === "string")
    return `the authorization server does not register clients: ${registrationError(error.body)}`;
  if ("code" in error && typeof error.code === "string")
    return `the authorization server answered ${errorCode(error.code)}`;
  return name.includes("Zod") || name === "SyntaxError"
    ? "the authorization server's answer is malformed"
    : error.message.slice(0, 200);
}

function registrationError(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    return errorCode(isJsonObject(value) && typeof value["error"] === "string" ? value["error"] : null);
  } catch {
    return errorCode(null);
  }
}

/** Only the words of RFC 6749: a description is text of a stranger. */
export function errorCode(code: string | null): string {
  return code !== null && /^[a-z_]{1,60}$/.test(code) ? code : "with an error that has no name";
}
