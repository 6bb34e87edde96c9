import type { Principal } from "../../kernel/principal.ts";
import { noneLoaded, type LoadedNamespaces } from "./names/namespace-names.ts";
import type { BareNameRules, MaySee, View, ViewExtras, ViewSource } from "./view.ts";
import { createViewBodies, type ViewBody } from "./view-body.ts";

const plainExtras: ViewExtras = Object.freeze({ loaded: () => noneLoaded, bareNames: () => standardBareNames });
const standardBareNames: BareNameRules = Object.freeze({
  legacySupport: true,
  deprecationWarnings: true,
  autoMigration: false,
});

/** Means all servers: no slug is empty. */
const all: readonly string[] = [""];

/** Views that are kept, one per principal. The least recently used is dropped first. */
const keptViews = 1_000;

interface Kept {
  readonly version: number;
  readonly body: ViewBody;
  readonly view: View;
  readonly policy: unknown;
}

/**
 * Views, memoised by principal and version: a call looks one entry up and builds nothing. When something changed, the
 * servers to which nothing happened stay the same objects; when only the extras changed, all of them and the names.
 */
export function createViews(
  source: ViewSource,
  maySee: MaySee,
  extras: ViewExtras = plainExtras,
): (principal: Principal) => View {
  const memo = new Map<string | Principal, Kept>();
  const bodies = createViewBodies(source, maySee);
  return (principal) => {
    // A credential for single servers, or within a profile, sees less than the others of the same person.
    const isWhole = principal.only === undefined && principal.profile === undefined;
    const key = isWhole ? principal.id : principal;
    const narrowing = principal.profile === undefined ? undefined : extras.narrowing?.(principal);
    const known = memo.get(key);
    const loaded = extras.loaded(principal);
    const bareNames = extras.bareNames();
    const policy = extras.policy?.();
    const isKnown =
      known !== undefined &&
      known.policy === policy &&
      known.view.narrowing === narrowing &&
      isSamePrincipal(known.view.principal, principal);
    const before = isKnown ? known : undefined;
    const isSame = before !== undefined && before.version === source.versionOf(principal);
    if (isSame && before.view.loaded === loaded && before.view.bareNames === bareNames) return before.view;
    const body = isSame ? before.body : bodies.build(principal, before?.body, narrowing);
    // Asked again: the first look at a person's servers makes them.
    const version = source.versionOf(principal);
    const view = toView(body, version, { loaded, bareNames });
    memo.delete(key);
    memo.set(key, { version, body, view, policy });
    if (memo.size > keptViews) memo.delete(memo.keys().next().value as string | Principal);
    return view;
  };
}

function toView(
  body: ViewBody,
  version: number,
  { loaded, bareNames }: { readonly loaded: LoadedNamespaces; readonly bareNames: BareNameRules },
): View {
  return Object.freeze({
    principal: body.principal,
    servers: body.servers,
    loaded,
    bareNames,
    version,
    narrowing: body.narrowing,
    get outside() {
      return body.outside();
    },
    get names() {
      return body.names();
    },
    server: (slug: string) => body.bySlug.get(slug),
  });
}

/**
 * One person may come with several credentials, each of which has a principal object of its own. The view does not
 * depend on scopes.
 */
function isSamePrincipal(a: Principal, b: Principal): boolean {
  return (
    a === b ||
    (a.id === b.id &&
      a.profile === b.profile &&
      a.team === b.team &&
      sameTexts(a.roles, b.roles) &&
      sameTexts(a.only ?? all, b.only ?? all))
  );
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
