import { cachedAnswer, type Answer, type Headers } from "../answer.ts";
import { toCachedText, withEntityTag, type CachedText } from "../../../operations/cached-text.ts";
import { type RestDeps, publicRoute, type PublicRequest, type Route } from "../route.ts";
import { toOpenApi, type OpenApiDocument } from "./openapi.ts";
import { toReferencePage } from "./reference-page.ts";

/** The style of the page at `/documentation`: the system's own fonts and colours, light or dark. */
const referenceStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; grid-template-columns: 17rem minmax(0, 52rem); gap: 3rem; margin: 0 auto; max-width: 76rem; padding: 0 1.5rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 2rem 0; font-size: 0.9rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav a { text-decoration: none; }
main { padding: 2rem 0 6rem; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.25rem; margin: 3rem 0 0; }
h3 { font-size: 1rem; margin: 0; }
section { border-top: 1px solid #8884; margin-top: 1.5rem; padding-top: 1.5rem; }
code, pre { font: 0.85rem/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { background: #8881; border-radius: 0.4rem; overflow: auto; padding: 0.7rem 0.9rem; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.7rem 0; width: 100%; }
th, td { border-bottom: 1px solid #8883; padding: 0.3rem 0.8rem 0.3rem 0; text-align: left; vertical-align: top; }
summary { cursor: pointer; }
:target { scroll-margin-top: 1rem; }
@media (max-width: 52rem) { body { display: block; } nav { position: static; max-height: none; } }
`;

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
