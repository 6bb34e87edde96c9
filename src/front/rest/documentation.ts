import { cachedAnswer, type Answer, type Headers } from "./answer.ts";
import { toCachedText, withEntityTag, type CachedText } from "./cached-text.ts";
import type { RestDeps } from "./deps.ts";
import { toOpenApi, type OpenApiDocument } from "./openapi.ts";
import { toReferencePage } from "./reference-page.ts";
import { referenceStyle } from "./reference-style.ts";
import { publicRoute, type Route } from "./route.ts";

/** A page without any script: it is text and links, with one style sheet of our own. */
const pageHeaders: Headers = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
};

/** The description of the routes: for programs, and as a page for people. Both are made when somebody first asks. */
export function createDocumentationRoutes(deps: RestDeps, described: readonly Route[]): readonly Route[] {
  let document: OpenApiDocument | undefined;
  let json: CachedText | undefined;
  const pages = new Map<boolean, CachedText>();
  const describe = (): OpenApiDocument => (document ??= toOpenApi(described, deps.version));
  const showJson = (): Answer => cachedAnswer((json ??= toCachedText(describe())));

  function showPage(): Answer {
    const needsToken = !deps.isOpen();
    let page = pages.get(needsToken);
    if (page === undefined) pages.set(needsToken, (page = withEntityTag(toReferencePage(describe(), { needsToken }))));
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
