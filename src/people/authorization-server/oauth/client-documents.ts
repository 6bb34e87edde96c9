import type { Clock } from "../../../kernel/runtime/clock.ts";
import { createAddressRules } from "../../../servers/logins/protocol/addresses.ts";
import { createOutgoing, type Outgoing } from "../../../servers/logins/outgoing.ts";
import { knownDocuments, normalizeClient } from "./client-metadata.ts";

/** How the documents of clients are fetched: as `fetch` is called by the library. */
export type FetchDocument = (url: string | URL, options: { readonly signal: AbortSignal }) => Promise<Response>;

/** Documents are a page of text. */
const mostBytes = 64 * 1024;

/** What came of a document is the same for a moment: the library asks twice for one that it refuses. */
const sameMs = 5_000;
/** Documents that are remembered for that long. */
const mostRecent = 100;

/**
 * Fetches the document that a client names as its id. Nothing is sent to addresses that are not in the public Internet,
 * nothing is followed, and answers are small. Where the Internet is out of reach, the known facts of a client count.
 */
export function createDocumentFetch(clock: Pick<Clock, "monotonic">, outgoing = publicOutgoing()): FetchDocument {
  const recent = new Map<string, { readonly document: Promise<unknown>; readonly untilMs: number }>();

  async function read(url: string, signal: AbortSignal): Promise<string> {
    const answer = await outgoing(url, { method: "GET", headers: {}, follows: false }, signal);
    if (answer.status !== 200) throw new Error(`it was answered with ${answer.status}`);
    if (answer.body.length > mostBytes) throw new Error("it is too large");
    return answer.body.toString("utf8");
  }

  async function fetchDocument(url: string, signal: AbortSignal): Promise<unknown> {
    const known = Object.hasOwn(knownDocuments, url) ? knownDocuments[url] : undefined;
    try {
      return normalizeDocument(JSON.parse(await read(url, signal)) as unknown);
    } catch (error) {
      if (known === undefined) throw error;
      return normalizeClient({ client_id: url, ...known });
    }
  }

  return async (given, { signal }) => {
    const url = String(given);
    const nowMs = clock.monotonic();
    for (const [name, { untilMs }] of recent) if (untilMs <= nowMs || recent.size > mostRecent) recent.delete(name);
    const document = recent.get(url)?.document ?? fetchDocument(url, signal);
    if (!recent.has(url)) recent.set(url, { document, untilMs: nowMs + sameMs });
    return toResponse(await document);
  };
}

function publicOutgoing(): Outgoing {
  return createOutgoing(createAddressRules("public"), {
    // The place itself is trusted to be where it says; here there is none.
    serverUrl: "https://invalid.invalid",
    route: async () => await Promise.resolve(undefined),
  });
}

/** Secrets have no place in a public document: the library refuses one that has any. */
function normalizeDocument(document: unknown): unknown {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return document;
  const given = document as Readonly<Record<string, unknown>>;
  return "client_secret" in given ? given : { ...normalizeClient(given), token_endpoint_auth_method: "none" };
}

function toResponse(document: unknown): Response {
  return new Response(JSON.stringify(document), { headers: { "content-type": "application/json" } });
}
