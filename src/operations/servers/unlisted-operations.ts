import * as z from "zod";
import { isUnseen } from "../../catalog/exposure/discover/discover-text.ts";
import { chooseServers } from "../../catalog/exposure/resource-list.ts";
import type { ViewServer } from "../../catalog/model/view.ts";
import { reading } from "../../engine/policy/rights.ts";
import { statusWord } from "../../kernel/status-words.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

const unlisted = z
  .object({
    servers: z.array(
      z.object({
        server: z.string(),
        word: z.string().describe("The status in words for people."),
        reason: z.string(),
        isComing: z.boolean().describe("Whether it has never been up, so that waiting for it may help."),
      }),
    ),
  })
  .meta({ id: "UnlistedServers" });

export const listUnlisted = operation({
  route: "GET /api/unlisted-servers",
  right: reading,
  query: z.object({
    server: schemas.name.optional().describe("Only this one."),
    wait: schemas
      .clampedNumber({ least: 0, most: 30, standard: 0 })
      .describe("Seconds to wait for servers that have never been up."),
  }),
  id: "listUnlistedServers",
  tag: "Servers and instances",
  summary: "Servers of which nothing is listed, and why",
  description: "Those that were disabled or stopped on purpose are left out, unless one is named.",
  responses: answers(unlisted, "Those that are missing from the lists of tools, resources and prompts.", [404]),
  async run(services, { principal, query, signal }) {
    if (query.wait > 0 && services.viewOf(principal).servers.some(isUnseen)) {
      await services.settled(principal, abortAfter(query.wait * 1_000, signal));
      signal.throwIfAborted();
    }
    const chosen = chooseServers(services.viewOf(principal), query.server);
    return { servers: chosen.filter((server) => isMissing(server, chosen.length)).map(toLine) };
    function toLine(server: ViewServer) {
      const reason = services.redact(server.reason);
      return { server: server.slug, word: statusWord(server), reason, isComing: isUnseen(server) };
    }
  },
});

function isMissing(server: ViewServer, chosen: number): boolean {
  if (server.status === "disabled" && server.step !== "correct" && chosen > 1) return false;
  return !server.shown || isUnseen(server);
}

/** What lists leave out. */
export const unlistedOperations: readonly Operation[] = [listUnlisted];
