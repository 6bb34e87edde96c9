import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createResponses } from "../../../test/harness/open-response.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import type { RestDeps } from "./route.ts";
import { createUpkeepRoutes } from "./routes-system.ts";

const open = createResponses();

test("nobody gets a backup who loses their right while it is made", async () => {
  const stream = Readable.from(["everything that is kept"]);
  const tracked = new Set<AbortController>();
  let removed = 0;
  const deps = {
    isOwner: () => false,
    audit: { order: async () => await Promise.resolve() },
    track(_principal: unknown, controller: AbortController) {
      tracked.add(controller);
      return () => void tracked.delete(controller);
    },
    upkeep: {
      async backup() {
        const gone = new GatewayError("UNAUTHORIZED", "the credential is no longer valid");
        for (const controller of tracked) controller.abort(gone);
        return await Promise.resolve({ bytes: 23, stream, remove: async () => void (removed += 1) });
      },
    },
  } as unknown as RestDeps;
  const { request, response } = await open();
  const backUp = createUpkeepRoutes(deps).find(({ path }) => path === "/api/system/backup");
  const asked = { raw: request, response, headers: {}, principal: localPrincipal };
  await expect(backUp?.handle(asked as never)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  expect([response.headersSent, removed, tracked.size]).toEqual([false, 1, 0]);
  // The file is given back as well as removed.
  if (!stream.closed) await once(stream, "close");
});
