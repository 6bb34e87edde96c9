import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { newestLegacyRevision, type LegacyRevision } from "../../wire/mcp/revisions.ts";

/**
 * The capabilities declared at `initialize`: all that can be passed on to clients, only what the asked revision knew in
 * the shapes that it knew (parsers that refuse unknown members need that), or nothing.
 */
export type Declares = "all" | "known" | "nothing";

/** One way to send `initialize`. */
export interface Rung {
  readonly revision: LegacyRevision;
  readonly declares: Declares;
}

/** The first `initialize` that a server gets of which nothing else is known. */
export const firstRung: Rung = Object.freeze({ revision: newestLegacyRevision, declares: "all" });

const nothing: JsonObject = Object.freeze({});
const sampling: JsonObject = Object.freeze({ context: {}, tools: {} });
const elicitation: JsonObject = Object.freeze({ form: {}, url: {} });
const extensions: JsonObject = Object.freeze({
  "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] },
});

/**
 * The capabilities to declare. They cannot be changed after `initialize`, so everything that can be passed on to a
 * client is declared, as far as the rung allows; whether the client of a certain call can answer is checked when a
 * question comes. Roots are declared only where the connection has its own: servers remember the roots that they get,
 * and one client's roots would replace the server's own settings for everybody who uses it.
 */
export function capabilitiesOf({ revision, declares }: Rung, hasRoots: boolean): JsonObject {
  if (declares === "nothing") return nothing;
  const own = hasRoots ? { roots: { listChanged: true } } : {};
  if (declares === "all") return { ...own, sampling, elicitation, extensions };
  switch (revision) {
    case "2025-11-25":
      return { ...own, sampling, elicitation };
    case "2025-06-18":
      return { ...own, sampling: {}, elicitation: {} };
    case "2025-03-26":
    case "2024-11-05":
      return { ...own, sampling: {} };
  }
}

/**
 * Whether a question may be asked of a client: only what was declared to the server.
 * `mode` is that of an elicitation.
 */
export function isDeclared(declared: JsonObject, method: string, mode: unknown): boolean {
  if (method === "sampling/createMessage") return declared["sampling"] !== undefined;
  const asked = declared["elicitation"];
  return asked !== undefined && (mode !== "url" || (asked as JsonObject)["url"] !== undefined);
}
