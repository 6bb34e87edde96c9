import { requestText } from "../../../wire/mcp/envelope.ts";
import { isJsonObject, parseJson } from "../../../kernel/text/json-bytes.ts";
import { requestPlainly, toReason } from "../../../wire/http/plain-request.ts";

/** The answer at an address that a client was given. */
export type EndpointAnswer =
  /** A gateway, which accepts the credential. */
  | { readonly kind: "toolyard" }
  /** The credentials are missing or wrong. */
  | { readonly kind: "refused" }
  /** Toolyard has no endpoint of this path. */
  | { readonly kind: "missing" }
  /** Some other program; `why` is what it answered. */
  | { readonly kind: "other"; readonly why: string }
  /** Nothing; `why` is the system's reason. */
  | { readonly kind: "silent"; readonly why: string };

export interface EndpointAsk {
  readonly url: string;
  /** The header, as the client sends it. */
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
  /** May name a proxy, which clients use, too. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A gateway answers within milliseconds; a client gives up after about as long. */
const answerMs = 10_000;

/** `server/discover` of revision 2026-07-28: it opens no session, and is answered by every endpoint of ours. */
const question = requestText(
  1,
  "server/discover",
  JSON.stringify({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "toolyard-doctor", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  }),
);
const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "server/discover",
};

/** Asks an address what it is, as a client would. Rejects only when `signal` aborts. */
export async function askEndpoint({ signal, ...ask }: EndpointAsk): Promise<EndpointAnswer> {
  try {
    return judge(await post({ ...ask, signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) }));
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "silent", why: toReason(error) };
  }
}

interface Answer {
  readonly status: number;
  /** `WWW-Authenticate`. */
  readonly challenge: string;
  readonly text: string;
}

function judge({ status, challenge, text }: Answer): EndpointAnswer {
  const body = parseJson(text);
  if (status === 200) return isGateway(body) ? { kind: "toolyard" } : { kind: "other", why: "another server" };
  if (status === 401 && challenge.includes('realm="toolyard"')) return { kind: "refused" };
  const type = isJsonObject(body) ? String(body["type"]) : "";
  if (status === 404 && type.startsWith("urn:toolyard:error:")) return { kind: "missing" };
  return { kind: "other", why: `status ${status}` };
}

/** Every answer of a gateway names the gateways on the way, to find loops. */
function isGateway(body: unknown): boolean {
  const result = isJsonObject(body) ? body["result"] : undefined;
  const meta = isJsonObject(result) ? result["_meta"] : undefined;
  return isJsonObject(meta) && Array.isArray(meta["toolyard/gateways"]);
}

async function post({ url, authorization, signal, env = {} }: EndpointAsk): Promise<Answer> {
  const all = authorization === undefined ? headers : { ...headers, authorization };
  const answer = await requestPlainly({ url, method: "POST", headers: all, body: question, signal, env });
  return { status: answer.status, challenge: answer.header("www-authenticate") ?? "", text: answer.text };
}
