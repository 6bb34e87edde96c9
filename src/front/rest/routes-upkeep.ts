import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { gatewayUpkeep } from "../../engine/policy/rights.ts";
import { type RestDeps, route, type RestRequest, type Route } from "./route.ts";
import { answers } from "../../operations/responses.ts";
import { noteUpkeep } from "../../operations/gateway/database-operations.ts";
import { whileAllowed } from "../../operations/request/tracked.ts";
import { toRequestFacts } from "./operation-route.ts";

const tag = "Gateway";
const recentOnly = "Takes a login with a browser of the last 15 minutes; a token does not do.";

/** A reader who stops reading keeps others from theirs no longer than this. */
const longestReadMs = 3_600_000;

/** What concerns everything that the gateway keeps. */
export function createUpkeepRoutes(deps: RestDeps): readonly Route[] {
  return [backUp(deps)];
}

function backUp(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/system/backup",
    right: gatewayUpkeep,
    operation: {
      id: "backUpState",
      tag,
      summary: "Download people, rights, sealed secrets and the audit as one file",
      description: `\`toolyard restore\` puts it in force. Records of calls are not in it. ${recentOnly}`,
      responses: {
        ...answers(z.unknown(), "", [415, 429, 503]),
        200: { description: "A SQLite database.", content: { "application/vnd.sqlite3": z.string() } },
        422: { description: "A PostgreSQL is backed up with pg_dump." },
      },
    },
    async handle(request) {
      // Before it is written: the backup tells of itself.
      const asking = Object.assign(toRequestFacts(deps, request.raw, request.response), {
        principal: request.principal,
      });
      await noteUpkeep(deps, asking, "state.backup");
      return await whileAllowed(deps, asking, async (signal) => await sendBackup(deps, request, signal));
    },
  });
}

async function sendBackup(
  deps: Pick<RestDeps, "upkeep">,
  { response, headers }: RestRequest,
  signal: AbortSignal,
): Promise<undefined> {
  const file = await deps.upkeep.backup();
  try {
    // Making it takes as long as the state is large.
    signal.throwIfAborted();
    response.writeHead(200, {
      ...headers,
      "Cache-Control": "no-store",
      "Content-Type": "application/vnd.sqlite3",
      "Content-Length": file.bytes,
      "Content-Disposition": 'attachment; filename="toolyard-state.db"',
    });
    // A client that leaves in the middle has a file that is too short, and no answer that could say so.
    await pipeline(file.stream, response, { signal: abortAfter(longestReadMs, signal) }).catch(() =>
      response.destroy(),
    );
  } finally {
    file.stream.destroy();
    await file.remove();
  }
  return undefined;
}
