import type { Listing as NameListing } from "../model/names/names.ts";
import type { View, ViewServer } from "../model/view.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import type { ClientProfile } from "../../config/rows/client-profiles.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import type { ExposureRequest, Intent } from "./intent.ts";
import type { ServerTexts } from "./text/server-texts.ts";

export type ListKind = "tools" | "resources" | "resourceTemplates" | "prompts" | "skills";

/** Tools that stand in the list beside the four, as one client was told of them. Immutable. */
export interface PinnedTools {
  /** Their definitions, and how long they are fresh. */
  readonly listing: Listing;
  /** The path of each by the name that it has in the list. */
  readonly paths: ReadonlyMap<string, string>;
  /** The same for equal definitions. */
  readonly key: string;
}

/** One list as a client sees it. Each item is JSON text (ASCII), in a fixed order. */
export interface Listing {
  readonly items: readonly string[];
  readonly ttlMs: number;
  readonly cacheScope: "public" | "private";
}

/** Who reads a list of tools. */
export interface Reader {
  /** By default the newest, which can hold everything. */
  readonly era?: Era | undefined;
  /** Where the client is of a kind that has a profile. */
  readonly client?: ClientProfile | undefined;
  /** What a session was told of the servers when it began; where it is left out, what the view says now. */
  readonly told?: ServerTexts | undefined;
  /** Of an exposure with `hasPins`. */
  readonly pinned?: PinnedTools | undefined;
}

/**
 * How a view is shown to a client, as pure functions (docs/design.md, "The way of a request"). `resolve` throws
 * GatewayError for names that are unknown or ambiguous.
 */
export interface Exposure {
  readonly name: string;
  /** Whether the list of tools may change while a client is connected. */
  readonly toolsChange: boolean;
  /** What its list of tools depends on besides the servers that exist. */
  readonly toolsDependOn?: "loaded namespaces";
  /** Whether its list has the servers' own tools, with their output schemas. */
  readonly showsDefinitions?: true;
  /** The spelling of tools in its list; left out where that has no names of the servers' tools. */
  readonly spelling?: NameListing;
  /** Whether tools can be pinned in its list. */
  readonly hasPins?: true;
  /** Whether its list of tools depends on the kind of client. */
  readonly toolsByClient?: boolean;
  /** Of tools, as clients of this reader's era can read them. */
  list(view: View, kind: ListKind, reader?: Reader): Listing;
  /** `pinned` are the tools that this client was told of. */
  resolve(view: View, request: ExposureRequest, pinned?: PinnedTools): Intent;
  /** The server's result with links and URIs spelled so that this client can read them. */
  render(view: View, intent: Intent, result: ResultBytes): ResultBytes;
  /** A server's URI as this exposure spells it, for notifications about it. */
  toUri(server: string, uri: string): string;
  instructions(view: View): string;
  /**
   * What its instructions and its list of tools say of the servers, where a session hears the same from its beginning
   * to its end.
   */
  told?(view: View): ServerTexts;
  /** Whether it shows one server unchanged. Nothing is then added to what that server says. */
  readonly isTransparent: boolean;
  /** The one server that this exposure shows unchanged. Undefined for all other exposures. */
  transparent(view: View): ViewServer | undefined;
}
