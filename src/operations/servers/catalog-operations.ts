import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { sandboxModes } from "../../config/rows/sandbox-rows.ts";
import { operation, type Operation } from "../operation.ts";
import { onMachine } from "../request/manager.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import type { ServerOffer } from "../machine/servers/server-offers.ts";

const tag = "Clients and servers";

const offers = z
  .object({
    servers: z.array(
      z.object({
        target: z.string().describe("What `POST /api/servers` takes as `target`."),
        name: z.string().describe("What it would be called."),
        description: z.string(),
        version: schemas.nullableText,
        command: z.string().describe("What will be started, or the address."),
        program: z
          .object({ name: z.string(), isThere: z.boolean().describe("On the machine of the gateway.") })
          .nullable()
          .describe("That has to be installed; null for an address."),
        mayAskForLogin: z.boolean(),
        takes: z
          .array(
            z.object({
              name: z.string().describe("Of its value in `env` of `POST /api/servers`."),
              description: z.string(),
              isSecret: z.boolean(),
              isRequired: z.boolean(),
              isFile: z.boolean().describe("Whether it is a path of the gateway's machine."),
              choices: z.array(z.string()).nullable(),
              placeholder: schemas.nullableText,
              preset: schemas.nullableText.describe("Without a value."),
            }),
          )
          .describe("Values that it takes."),
        isConfigured: z.boolean().describe("Whether the configuration has a server of this name."),
        warning: schemas.nullableText,
      }),
    ),
  })
  .meta({ id: "ServerOffers" });

const listTested = operation({
  route: "GET /api/catalog",
  right: gatewayAdmin,
  id: "listTestedServers",
  tag,
  summary: "Tested servers that could be added, and what they need",
  responses: answers(offers, "Those that come with this gateway.", [429, 504]),
  run: async (services, request) =>
    await onMachine(services, request, async ({ machine, code }) => toOffers(await code.testedOffers(machine.place))),
});

const searchRegistry = operation({
  route: "GET /api/catalog/registry",
  right: gatewayAdmin,
  query: z.object({ search: z.string().min(1).max(200).describe("A part of the name.") }),
  id: "searchRegistry",
  tag,
  summary: "Servers of the MCP registry that could be added, and what they need",
  description: "Unchecked: what the registry has. Those that cannot be started or reached are left out.",
  responses: answers(offers, "At most twenty, in their newest versions.", [429, 502, 504]),
  run: async (services, request) =>
    await onMachine(services, request, async ({ machine, code, signal }) =>
      toOffers(await code.registryOffers(machine.place, request.query.search, signal)),
    ),
});

const showSandbox = operation({
  route: "GET /api/catalog/sandbox",
  right: gatewayAdmin,
  id: "showSandbox",
  tag,
  summary: "Whether a new server can run in a sandbox here, and what it would get",
  responses: answers(
    z
      .object({
        works: z.boolean(),
        lacks: schemas.nullableText.describe("What the gateway's machine lacks for it, and what to do about it."),
        mode: z.enum(sandboxModes).describe("`toolyard.sandbox.mode` of the configuration file."),
        gets: z.array(z.string()).describe("What a server with `sandbox: true` sees and reaches, in sentences."),
      })
      .meta({ id: "SandboxHere" }),
    "As its machine is now.",
    [429, 504],
  ),
  run: async (services, request) =>
    await onMachine(services, request, async ({ machine, code }) => await code.sandboxHere(machine.place)),
});

function toOffers(servers: readonly ServerOffer[]): z.output<typeof offers> {
  return {
    servers: servers.map(({ takes, ...offer }) => ({
      ...offer,
      takes: takes.map(({ choices, placeholder = null, preset = null, ...input }) => ({
        ...input,
        ...{ choices: choices === undefined ? null : [...choices], placeholder, preset },
      })),
    })),
  };
}

/** Servers that are in no configuration yet. */
export const catalogOperations: readonly Operation[] = [listTested, searchRegistry, showSandbox];
