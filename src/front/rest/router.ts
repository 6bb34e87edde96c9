import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Route } from "./route.ts";

/** What exists at a path: its routes by method, and the values of the path's parameters. */
export interface Place {
  readonly methods: ReadonlyMap<string, Route>;
  readonly params: Readonly<Record<string, string>>;
}

export interface Router {
  /**
   * Undefined when there is nothing at the path. Throws REQUEST_INVALID for invalid percent-encoding or a segment
   * that is too long.
   */
  find(path: string): Place | undefined;
}

interface Pattern {
  readonly segments: readonly string[];
  readonly methods: Map<string, Route>;
}

/** The most characters of one segment, which may be a whole tool path. */
const longestSegment = 4_096;
const noParams: Place["params"] = Object.freeze({});

/**
 * A gateway has two dozen paths. Those without parameters are looked up; the others are tried one after the other.
 */
export function createRouter(routes: readonly Route[]): Router {
  const patterns = new Map<string, Pattern>();
  for (const route of routes) {
    const pattern = patterns.get(route.path) ?? { segments: route.path.split("/"), methods: new Map<string, Route>() };
    if (pattern.methods.has(route.method)) throw new Error(`${route.method} ${route.path} is defined twice`);
    pattern.methods.set(route.method, route);
    patterns.set(route.path, pattern);
  }
  const withParameters = [...patterns].filter(([path]) => /[{*]/.test(path)).map(([, pattern]) => pattern);
  const places = new Map([...patterns].map(([path, pattern]) => [path, toExactPlace(pattern, withParameters)]));

  return {
    find(path) {
      const bare = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
      const exact = /[%{*]/.test(bare) ? undefined : places.get(bare);
      if (exact !== undefined) return exact;
      const segments = bare.split("/").map(decodeSegment);
      for (const pattern of [...withParameters, ...patterns.values()]) {
        const params = matchSegments(pattern.segments, segments);
        if (params !== undefined) return { methods: pattern.methods, params };
      }
      return undefined;
    },
  };
}

/**
 * `/api/servers/test` is a route of one method, and for all others the server that is called `test`: a name must not
 * take anybody's server away.
 */
function toExactPlace({ segments, methods }: Pattern, withParameters: readonly Pattern[]): Place {
  for (const pattern of withParameters) {
    const params = matchSegments(pattern.segments, segments);
    if (params !== undefined) return { methods: new Map([...pattern.methods, ...methods]), params };
  }
  return { methods, params: noParams };
}

function decodeSegment(segment: string): string {
  let text: string;
  try {
    text = segment.includes("%") ? decodeURIComponent(segment) : segment;
  } catch {
    throw new GatewayError("REQUEST_INVALID", "the path is not validly percent-encoded", {
      hint: "Percent-encode every segment of the path.",
    });
  }
  if (text.length > longestSegment) throw new GatewayError("REQUEST_INVALID", "a segment of the path is too long");
  return text;
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Place["params"] | undefined {
  const isOpen = pattern.at(-1) === "*";
  if (isOpen ? segments.length < pattern.length : segments.length !== pattern.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, wanted] of pattern.entries()) {
    const given = segments[index] as string;
    if (wanted.startsWith("{")) params[wanted.slice(1, -1)] = given;
    else if (wanted !== given && !(isOpen && index === pattern.length - 1)) return undefined;
  }
  return params;
}

/** The path and the query of a request target, which may be in absolute form (RFC 9112 section 3.2.2). */
export function splitTarget(url: string): { readonly path: string; readonly query: string } {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
  const end = target.search(/[?#]/);
  if (end === -1) return { path: target, query: "" };
  const [query = ""] = target.slice(end + 1).split("#", 1);
  return { path: target.slice(0, end), query: target[end] === "?" ? query : "" };
}
