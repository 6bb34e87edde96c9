import type { PromptEntry, ToolEntry } from "../model/snapshot.ts";
import type { View, ViewServer } from "../model/view.ts";
import type { CallArguments } from "../../kernel/call/call-context.ts";
import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import type { JsonBytes, JsonObject } from "../../kernel/text/json-bytes.ts";
import type { KeptPage } from "./kept-uri.ts";

/** What a client's request means, once its names have been looked up. Carried out by `engine/perform` only. */
export type Intent =
  | {
      readonly kind: "call";
      /** Whose tool it is, of all that offer the same. */
      readonly instance: InstanceId;
      readonly tool: ToolEntry;
      readonly arguments: CallArguments;
      /** A warning that goes beside the result, for instance that a bare name was used. */
      readonly warning: string | undefined;
      /** The bare name that the tool was called by, if it was. */
      readonly bareName?: string;
      /** Whether the answer is to give the full path in place of the bare name. */
      readonly migrated?: boolean;
      /** Whether it was asked for as a call that only reads: any other is refused. */
      readonly readOnly?: true;
    }
  | { readonly kind: "discover"; readonly request: DiscoverRequest }
  | {
      readonly kind: "list-resources";
      readonly server: string | undefined;
      readonly query: string | undefined;
      readonly cursor: string | undefined;
    }
  | {
      readonly kind: "read";
      readonly server: ViewServer;
      readonly uri: string;
      /** Whether the answer is that of a tool or of resources/read. */ readonly as: "tool" | "native";
      /** Whether it was asked for behind `raw/`: the answer then spells addresses in the same way. */
      readonly isRaw?: true;
    }
  /** A page of what was cut off a result earlier. */
  | {
      readonly kind: "kept";
      readonly id: string;
      readonly page: KeptPage;
      /** As in a read. */ readonly as: "tool" | "native";
    }
  | {
      readonly kind: "prompt";
      readonly instance: InstanceId;
      readonly prompt: PromptEntry;
      readonly arguments: JsonBytes | undefined;
    }
  | {
      readonly kind: "complete";
      readonly server: ViewServer;
      /** The reference with the server's own names. */ readonly ref: JsonObject;
    }
  /** Loads a namespace and lists its tools under the names that the exposure gives them. */
  | {
      readonly kind: "list-namespace";
      readonly server: ViewServer;
      /** In the view after loading: names are given out with it. */ readonly nameOf: (
        view: View,
        tool: ToolEntry,
      ) => string;
      readonly query: string | undefined;
      readonly cursor: string | undefined;
    }
  /** Passed to the one server unchanged: transparent exposures, and requests about a single server's task or skill. */
  | {
      readonly kind: "forward";
      readonly server: ViewServer;
      /** The server's own URI, where the client's request names something by another. */
      readonly uri?: string;
    }
  /** Answered without asking any server. */
  | { readonly kind: "answer"; readonly result: JsonObject };

export interface DiscoverRequest {
  readonly queries: readonly string[];
  /** Whether `queries` was given instead of `query`. */
  readonly grouped: boolean;
  readonly limit: number;
  readonly server: string | undefined;
  readonly readOnly: boolean;
  readonly detail: "names" | "signature" | "schema";
  /** A person's trial: nothing is learned from it. */
  readonly isTrial?: boolean | undefined;
  /** Whether to say why each tool was found. */
  readonly explain?: boolean | undefined;
  /** For somebody who compares: embeddings are left out, or all but them. */
  readonly only?: "words" | "meaning" | undefined;
}

/** A request whose names an exposure has to look up. */
export type ExposureRequest =
  | { readonly method: "tools/call"; readonly name: string; readonly arguments: CallArguments }
  | { readonly method: "resources/read"; readonly uri: string }
  | { readonly method: "prompts/get"; readonly name: string; readonly arguments: JsonBytes | undefined }
  | { readonly method: "completion/complete"; readonly ref: JsonObject };

/** An intent that one server answers. */
export type ServerIntent = Extract<Intent, { kind: "call" | "read" | "prompt" | "complete" | "forward" }>;

/** The server that an intent is for, regardless of whose instance of it. */
export function slugOf(intent: ServerIntent): ServerSlug {
  switch (intent.kind) {
    case "call":
      return intent.tool.server;
    case "prompt":
      return intent.prompt.server;
    case "read":
    case "complete":
    case "forward":
      return intent.server.slug;
  }
}

/** Undefined for what the gateway itself answers. */
export function serverOf(intent: Intent): ServerSlug | undefined {
  switch (intent.kind) {
    case "discover":
    case "list-resources":
    case "list-namespace":
    case "kept":
    case "answer":
      return undefined;
    default:
      return slugOf(intent);
  }
}
