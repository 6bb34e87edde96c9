import type { ServerResponse } from "node:http";
import type { Principal } from "../../kernel/principal.ts";

/** A request whose sender has to be looked up. */
export interface Awaited {
  readonly found: Promise<Principal>;
  readonly response: ServerResponse;
  readonly enter: (principal: Principal) => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Goes on with the request once it is known who sent it. When the client has gone meanwhile nothing happens at all:
 * what would be counted for the request until its response closes would be counted for ever.
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
