import type { View, ViewServer } from "../model/view.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import type { ClientProfile } from "../../config/client-profiles.ts";
import type { ExposureRequest, Intent } from "./intent.ts";

export type ListKind = "tools" | "resources" | "resourceTemplates" | "prompts";

/** One list as a client sees it: each item as JSON text (ASCII), in a fixed order. */
export interface Listing {
  readonly items: readonly string[];
  readonly ttlMs: number;
  readonly cacheScope: "public" | "private";
}

/**
 * How a view is shown to a client: pure functions (docs/design.md, "The way of a request"). `resolve` throws
 * GatewayError for names that mean nothing, or more than one thing.
 */
export interface Exposure {
  readonly name: string;
  /** Whether the list of tools may change while a client is connected. */
  readonly toolsChange: boolean;
  /** What else its list of tools depends on, beside the servers that there are. */
  readonly toolsDependOn?: "loaded namespaces";
  /** Whether its list has the servers' own tools, with their output schemas. */
  readonly showsDefinitions?: true;
  /** Whether its list of tools depends on the kind of client. */
  readonly toolsByClient?: boolean;
  list(view: View, kind: ListKind, client?: ClientProfile): Listing;
  resolve(view: View, request: ExposureRequest): Intent;
  /** The server's result as this client may read it: links and URIs in its spelling. */
  render(view: View, intent: Intent, result: ResultBytes): ResultBytes;
  /** A URI of a server as this exposure spells it: for notifications about it. */
  toUri(server: string, uri: string): string;
  instructions(view: View): string;
  /** Whether it shows one server as it is: then nothing is added to what that server says. */
  readonly isTransparent: boolean;
  /** The one server that this exposure shows as it is; undefined for all others. */
  transparent(view: View): ViewServer | undefined;
}
