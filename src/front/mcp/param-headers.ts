import type { IncomingHttpHeaders } from "node:http";
import {
  faultyHeaderParameter,
  headerParameters,
  mirroredValue,
  type HeaderParameter,
} from "../../catalog/model/header-parameters.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Caller } from "./caller.ts";
import { decodeHeaderValue } from "./sessions/modern.ts";

/** Throws HEADER_MISMATCH unless the request's `Mcp-Param-*` headers say what its arguments do. */
export type CheckParamHeaders = (tool: ToolEntry, args: unknown, headers: IncomingHttpHeaders) => void;

/**
 * 2026-07-28, streamable-http, server behavior for custom headers. What a tool mirrors is found out once per
 * definition.
 */
export function createParamHeaderCheck(): CheckParamHeaders {
  const known = new WeakMap<ToolEntry, readonly HeaderParameter[]>();

  function parametersOf(tool: ToolEntry): readonly HeaderParameter[] {
    let parameters = known.get(tool);
    if (parameters === undefined) {
      const { inputSchema } = tool.definition;
      // A tool of a stdio server may be offered with annotations that no client can follow: then none is expected to.
      parameters = faultyHeaderParameter(inputSchema) === undefined ? headerParameters(inputSchema) : [];
      known.set(tool, parameters);
    }
    return parameters;
  }

  return (tool, args, headers) => {
    for (const parameter of parametersOf(tool)) checkOne(parameter, args, headers);
  };
}

function checkOne({ name, path }: HeaderParameter, args: unknown, headers: IncomingHttpHeaders): void {
  const header = headers[`mcp-param-${name.toLowerCase()}`];
  const value = mirroredValue(path, args);
  if (value === undefined && header === undefined) return;
  if (header === undefined) throw new GatewayError("HEADER_MISMATCH", `the Mcp-Param-${name} header is missing`);
  const text = decodeHeaderValue(Array.isArray(header) ? header.join(",") : header);
  // Integers are compared as numbers: 42.0 is 42.
  const same = typeof value === "number" ? text.trim() !== "" && Number(text) === value : text === String(value);
  if (value === undefined || !same)
    throw new GatewayError(
      "HEADER_MISMATCH",
      `the Mcp-Param-${name} header does not match the argument ${path.join(".")}`,
    );
}

const prefix = "mcp-param-";

/**
 * The header parameters of a request to a server that is shown as it is: intermediaries pass on those that they do not
 * know (2026-07-28, streamable-http, server behavior for custom headers). Undefined when there are none.
 */
export function paramHeadersOf({ headers, endpoint }: Caller): CallContext["paramHeaders"] {
  if (headers === undefined || !endpoint.exposure.isTransparent) return undefined;
  let found: (readonly [string, string])[] | undefined;
  for (const name in headers) {
    const value = name.startsWith(prefix) ? headers[name] : undefined;
    if (typeof value === "string") (found ??= []).push([name.slice(prefix.length), value]);
  }
  return found;
}
