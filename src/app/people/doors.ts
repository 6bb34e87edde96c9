import { requestPath, type PublicUrl } from "../../front/http/public-url.ts";
import type { Directory } from "../../people/directory/directory.ts";
import { reaches } from "../../people/identity/audience.ts";
import type { Doors } from "../../people/identity/authenticator.ts";
import { sessionHashOf } from "../../people/identity/session-cookie.ts";

/** How a request is let in beside its token: for which resource, and with which browser. */
export function createDoors(directory: Directory, publicUrl: PublicUrl): Doors {
  return {
    isMeantFor: (audience, request) => reaches(audience, publicUrl(request), requestPath(request.url ?? "/")),
    bySession(request) {
      // For REST alone: what a page of ours asks. MCP wants a token.
      if (directory.bySession === undefined || !isRestPath(requestPath(request.url ?? "/"))) return undefined;
      const site = request.headers["sec-fetch-site"];
      if (site !== undefined && site !== "same-origin" && site !== "none") return undefined;
      const hash = sessionHashOf(request, publicUrl(request).startsWith("https:"));
      const team = request.headers["x-toolyard-team"];
      return hash === undefined ? undefined : directory.bySession(hash, typeof team === "string" ? team : undefined);
    },
  };
}

function isRestPath(path: string): boolean {
  return path.startsWith("/api/") || path.startsWith("/execute/");
}
