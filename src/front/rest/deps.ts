import type { IncomingMessage } from "node:http";
import type { Settings } from "../../config/config.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Services } from "../../operations/services.ts";
import type { Presence } from "../../people/identity/session-validity.ts";
import type { BodyRoom } from "../http/guards/body-room.ts";
import type { PublicUrl } from "../http/public-url.ts";
import type { Browsers } from "../web/browsers.ts";

/** What the REST API needs beside what operations do their work with. */
export interface RestDeps extends Omit<Services, "texts" | "questions" | "trials" | "leases"> {
  /** The limits of bodies, the same over MCP and here: both are read at the start. */
  readonly bodyLimits: Pick<Settings["limits"], "requestBodyBytes" | "jsonDepth">;
  readonly bodyRoom: BodyRoom;
  /** Throws or rejects with UNAUTHORIZED. */
  readonly authenticate: (request: IncomingMessage) => Principal | Promise<Principal>;
  /** Whether a request came through the door of the data directory's owner. */
  readonly isOwner: (request: IncomingMessage) => boolean;
  /** Browsers that are logged in at the dashboard. */
  readonly browsers: Browsers;
  readonly publicUrl: PublicUrl;
  /** Counts a principal's request. Returns a function to call when it ends. Throws RATE_LIMITED. */
  readonly admit: (principal: Principal) => () => void;
  /** Counts a stream that stays open; otherwise the same. */
  readonly openStream: (principal: Principal) => () => void;
  /** Whether the sender of a request is still here when its body is. */
  readonly presence: Presence;
  readonly reportFailure: (failure: GatewayError, operation: string) => void;
  readonly log: Log;
  /** Writes into the audit that a request was refused. */
  readonly onDenied: (request: IncomingMessage, failure: GatewayError, principal: Principal | undefined) => void;
}
