import type { ServerResponse } from "node:http";
import type { Principal } from "../../kernel/principal.ts";

/** A request whose principal has to be looked up. */
export interface Awaited {
  readonly found: Promise<Principal>;
  readonly response: ServerResponse;
  readonly enter: (principal: Principal) => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Continues with the request once its principal is known. Does nothing when the client has left in the meantime:
 * whatever would be counted until the response closes would otherwise be counted for ever, because the response has
 * already closed.
 */
export function whenFound({ found, response, enter, refuse }: Awaited): void {
  found
    .then((principal) => {
      if (!response.destroyed) enter(principal);
    })
    .catch((error: Error) => {
      if (!response.destroyed) refuse(error);
    });
}
