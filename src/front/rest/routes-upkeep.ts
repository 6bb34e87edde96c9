import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { gatewayUpkeep } from "../../engine/policy/rights.ts";
import { jsonAnswer } from "./answer.ts";
import type { RestDeps } from "./deps.ts";
import { actorOf } from "./install-request.ts";
import { checkPart } from "./part-check.ts";
import { noStore, requirePeople } from "./people-request.ts";
import { answers } from "./responses.ts";
import { route, type RestRequest, type Route } from "./route.ts";
import { whileAllowed } from "./tracked.ts";

const tag = "Gateway";
const rotation = z.object({ data: z.boolean().optional().describe("Also encrypt every secret again.") });
const rotated = z.object({ teams: z.int(), secrets: z.int() }).meta({ id: "RotatedKeys" });
const recentOnly = "Takes a login with a browser of the last 15 minutes; a token does not do.";

/** A reader who stops reading keeps others from theirs no longer than this. */
const longestReadMs = 3_600_000;

const databaseList = z
  .object({
    ok: z.boolean(),
    databases: z.array(
      z.object({
        database: z.enum(["state", "records"]),
        place: z.string().describe("The file, or the server's name without a password."),
        engine: z.string(),
        bytes: z.int(),
        schema: z.string().nullable().describe("The newest step of its schema."),
        steps: z.array(z.string()),
        faults: z.array(z.string()).describe("One sentence each; none where it is in order."),
      }),
    ),
  })
  .meta({ id: "DatabaseList" });

/** What concerns everything that the gateway keeps. */
export function createUpkeepRoutes(deps: RestDeps): readonly Route[] {
  return [backUp(deps), checkDatabases(deps), rotateKeys(deps)];
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
      await note(deps, request, "state.backup");
      return await whileAllowed(deps, request, async (signal) => await sendBackup(deps, request, signal));
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
      ...noStore,
      "Content-Type": "application/vnd.sqlite3",
      "Content-Length": file.bytes,
      "Content-Disposition": 'attachment; filename="toolyard-state.db"',
    });
    // Whoever leaves in the middle has a file that is too short, and no answer that could say so.
    await pipeline(file.stream, response, { signal: abortAfter(longestReadMs, signal) }).catch(() =>
      response.destroy(),
    );
  } finally {
    file.stream.destroy();
    await file.remove();
  }
  return undefined;
}

function checkDatabases(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/system/db",
    right: gatewayUpkeep,
    operation: {
      id: "checkDatabases",
      tag,
      summary: "Look through the databases",
      description: `Reads all pages of both, so that it takes a while. ${recentOnly}`,
      responses: answers(databaseList, "What they are, and what is wrong with them.", [503]),
    },
    async handle(request) {
      await note(deps, request, "state.check");
      const databases = (await deps.upkeep.check()).map((check) => ({ ...check, schema: check.steps.at(-1) ?? null }));
      return jsonAnswer({ ok: databases.every(({ faults }) => faults.length === 0), databases }, noStore);
    },
  });
}

function rotateKeys(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/system/keys/rotate",
    right: gatewayUpkeep,
    operation: {
      id: "rotateKeys",
      tag,
      summary: "Make a new key for the secrets of all teams",
      description: recentOnly,
      body: rotation,
      responses: answers(rotated, "How much was encrypted again.", [415, 503]),
    },
    async handle(request) {
      const { data = false } = checkPart(rotation, "body", request.body);
      const { installs } = requirePeople(deps);
      return jsonAnswer(await installs.secrets.rotate(actorOf(deps, request), data), noStore);
    },
  });
}

async function note(deps: RestDeps, { principal, raw }: RestRequest, action: string): Promise<void> {
  const { id: actor, team } = principal;
  await deps.audit.order({ actor, team, via: "rest", action, ip: raw.socket.remoteAddress ?? null });
}
