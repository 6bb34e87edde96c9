import { cachedAnswer, type Answer, type Headers } from "../answer.ts";
import { toCachedText, withEntityTag, type CachedText } from "../../../operations/cached-text.ts";
import type { RestDeps } from "../deps.ts";
import { toOpenApi, type OpenApiDocument } from "./openapi.ts";
import { toReferencePage } from "./reference-page.ts";
import { referenceStyle } from "./reference-style.ts";
import { publicRoute, type PublicRequest, type Route } from "../route.ts";

/** Headers of a page without any script: it is text and links, with one style sheet of our own. */
const pageHeaders: Headers = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
};

interface Described {
  readonly url: string;
  readonly document: OpenApiDocument;
  readonly json: CachedText;
  /** Keyed by whether the examples send a token. */
  readonly pages: Map<boolean, CachedText>;
}

/**
 * The description of the routes, for programs and as a page for people. Both are made at the first request for them.
 */
export function createDocumentationRoutes(deps: RestDeps, described: readonly Route[]): readonly Route[] {
  let routes: ReturnType<typeof toOpenApi> | undefined;
  let known: Described | undefined;

  /** Keeps the description for the address under which it was last requested: there is nearly always only one. */
  function describe({ raw }: PublicRequest): Described {
    const url = deps.publicUrl(raw);
    if (known?.url === url) return known;
    const document: OpenApiDocument = { ...(routes ??= toOpenApi(described, deps.version)), servers: [{ url }] };
    known = { url, document, json: toCachedText(document), pages: new Map() };
    return known;
  }

  const showJson = (request: PublicRequest): Answer => cachedAnswer(describe(request).json);

  function showPage(request: PublicRequest): Answer {
    const needsToken = !deps.isOpen();
    const { pages, document } = describe(request);
    let page = pages.get(needsToken);
    if (page === undefined) pages.set(needsToken, (page = withEntityTag(toReferencePage(document, { needsToken }))));
    return asPage(page, "text/html; charset=utf-8");
  }

  let style: CachedText | undefined;
  return [
    publicRoute({ method: "GET", path: "/openapi.json", handle: showJson }),
    publicRoute({ method: "GET", path: "/documentation", handle: showPage }),
    publicRoute({ method: "GET", path: "/documentation/json", handle: showJson }),
    publicRoute({
      method: "GET",
      path: "/documentation/style.css",
      handle: () => asPage((style ??= withEntityTag(referenceStyle)), "text/css; charset=utf-8"),
    }),
  ];
}

function asPage({ bytes, etag }: CachedText, type: string): Answer {
  return { headers: { ...pageHeaders, "Content-Type": type, ETag: etag, "Cache-Control": "no-cache" }, body: bytes };
}
