import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { findClient } from "../../config/clients/client-table.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { jsonAnswer, type Answer } from "./answer.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import type { CommandOutcome } from "./management.ts";
import { requireManager } from "./manager.ts";
import { checkPart } from "./part-check.ts";
import { answers } from "./responses.ts";
import { route, type RestRequest, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Clients and servers";

const outcome = z
  .object({
    ok: z.boolean(),
    text: z.string().describe("What the command says to people: the change, or why there is none."),
    facts: z.array(schemas.json).describe("What it says to programs."),
  })
  .meta({ id: "CommandOutcome" });

const clientList = z
  .object({
    clients: z.array(
      z.object({
        id: schemas.nullableText.describe("Null for a program that is in no table."),
        client: z.string(),
        files: z.array(
          z.object({
            file: z.string(),
            scope: z.string(),
            servers: z.int().describe("Of its own."),
            gateways: z.array(z.string()).describe("That it leads to."),
            isConnected: z.boolean(),
            problems: z.array(z.string()),
          }),
        ),
        sessions: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: "ClientList" });

const applyBody = z
  .object({
    apply: z.boolean().optional().describe("False, as by default, only shows what would be changed."),
    replace: z.boolean().optional().describe("Switch off in the client what the gateway has as well."),
  })
  .meta({ id: "ClientChange" });

const importBody = z
  .object({
    apply: z.boolean().optional().describe("False, as by default, only shows what would be taken over."),
    only: z.array(z.string().max(500)).max(1_000).optional().describe("Names as the preview has them. Default: all."),
    secrets: z.enum(["keep", "variables"]).optional().describe("What becomes of secrets that stand in the files."),
  })
  .meta({ id: "ImportChoice" });

const newServer = z
  .object({
    name: z.string().max(200).optional().describe("Not needed for a package."),
    command: z.array(z.string().max(10_000)).max(200).optional().describe("A program and its arguments."),
    target: z.string().max(4_096).optional().describe("An address, `npm:package`, `pypi:package`, or a registry name."),
    test: z.boolean().optional().describe("False does not try it first."),
    examples: z.literal(true).optional().describe("In place of all else: three servers to try the gateway with."),
  })
  .meta({ id: "NewServer" });

/**
 * What the terminal does to files, over REST: each is the command of that name, run with this gateway's configuration.
 */
export function createCommandRoutes(deps: RestDeps): readonly Route[] {
  return [
    listClients(deps),
    ...clientActions.map((action) => changeClient(deps, action)),
    importServers(deps),
    addServer(deps),
    ...serverActions.map((action) => changeServer(deps, action)),
    runDoctor(deps),
  ];
}

function listClients(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/clients",
    right: gatewayAdmin,
    operation: {
      id: "listClients",
      tag,
      summary: "AI clients of this machine, and which gateway they use",
      responses: answers(clientList, "Clients that were found."),
    },
    async handle(request) {
      const { facts, text } = await command(deps, request, ["clients", "--json"]);
      const [found] = facts;
      if (found === undefined) throw new GatewayError("INTERNAL", text);
      return jsonAnswer(found, { "Cache-Control": "no-store" });
    },
  });
}

const clientActions = [
  { name: "connect", summary: "Have a client use this gateway", words: (id: string) => ["connect", id] },
  { name: "disconnect", summary: "Take our entry out of a client", words: (id: string) => ["disconnect", id] },
  {
    name: "undo",
    summary: "Undo the last change of a client's file",
    words: (id: string) => ["connect", id, "--undo"],
  },
] as const;

function changeClient(deps: RestDeps, { name, summary, words }: (typeof clientActions)[number]): Route {
  return route({
    method: "POST",
    path: `/api/clients/{id}/${name}`,
    right: gatewayAdmin,
    params: z.object({ id: schemas.name.describe("As `GET /api/clients` has it.") }),
    operation: {
      id: `${name}Client`,
      tag,
      summary,
      body: applyBody,
      responses: answers(outcome, "What was changed, or would be.", [415]),
    },
    async handle(request) {
      const { apply = false, replace = false } = checkPart(applyBody, "body", request.body);
      const { id } = request.params;
      if (findClient(id) === undefined)
        throw new GatewayError("PARAMS_INVALID", "params.id: there is no such client", {
          data: { field: "params.id" },
        });
      const options = [...(apply ? ["--yes"] : ["--dry-run"]), ...(replace && name === "connect" ? ["--replace"] : [])];
      if (apply) await order(deps, request, `client.${name}`, id);
      return toAnswer(withChanges(await command(deps, request, [...words(id), "--json", ...options])));
    },
  });
}

function importServers(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/import",
    right: gatewayAdmin,
    operation: {
      id: "importServers",
      tag,
      summary: "Take over servers of AI clients",
      body: importBody,
      responses: answers(outcome, "What was taken over, or would be. `facts` has the plan.", [415]),
    },
    async handle(request) {
      const { apply = false, only, secrets } = checkPart(importBody, "body", request.body);
      const options = [
        ...(apply ? ["--yes"] : ["--dry-run"]),
        ...(secrets === undefined ? [] : ["--secrets", secrets]),
        ...(only ?? []).flatMap((name) => [`--only=${name}`]),
      ];
      if (apply) await order(deps, request, "config.import", "");
      return toAnswer(await command(deps, request, ["import", "--json", ...options]));
    },
  });
}

function addServer(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/servers",
    right: gatewayAdmin,
    operation: {
      id: "addServer",
      tag,
      summary: "Try a server, and add it to the configuration",
      description: "It is started apart from the gateway first, and written only if it answers.",
      body: newServer,
      responses: answers(outcome, "What came of it.", [415]),
    },
    async handle(request) {
      const { name, command: program, target, test = true, examples } = checkPart(newServer, "body", request.body);
      if (examples === true && program === undefined && target === undefined) {
        await order(deps, request, "config.server.add", "examples");
        return toAnswer(await command(deps, request, ["servers", "add", "--examples", "--json"]));
      }
      if ((program === undefined) === (target === undefined))
        throw new GatewayError("PARAMS_INVALID", "body: needs either a command or a target", {
          data: { field: "body" },
        });
      const words = ["servers", "add", ...(name === undefined ? [] : [plainWord("name", name)])];
      const options = ["--json", ...(test ? [] : ["--no-test"])];
      const tail = program === undefined ? [plainWord("target", target ?? "")] : ["--", ...program];
      await order(deps, request, "config.server.add", name ?? target ?? "");
      const all = program === undefined ? [...words, ...tail, ...options] : [...words, ...options, ...tail];
      return toAnswer(await command(deps, request, all));
    },
  });
}

const serverActions = [
  { name: "enable", method: "POST", summary: "Switch a server on in the configuration" },
  { name: "disable", method: "POST", summary: "Switch a server off in the configuration" },
  { name: "test", method: "POST", summary: "Try a server apart from the gateway" },
  { name: "login", method: "POST", summary: "Log in at a server, in a browser on the machine of the gateway" },
  { name: "logout", method: "POST", summary: "Forget a login at a server" },
  { name: "remove", method: "DELETE", summary: "Take a server out of the configuration" },
] as const;

function changeServer(deps: RestDeps, { name, method, summary }: (typeof serverActions)[number]): Route {
  return route({
    method,
    path: name === "remove" ? "/api/servers/{slug}" : `/api/servers/{slug}/${name}`,
    right: gatewayAdmin,
    params: z.object({ slug: schemas.name }),
    operation: {
      id: `${name}Server`,
      tag,
      summary,
      responses: answers(outcome, "What came of it.", [404, 415]),
    },
    async handle(request) {
      const { slug } = request.params;
      const word = plainWord("slug", slug);
      const isAccount = name === "login" || name === "logout";
      if (name !== "test") await order(deps, request, `${isAccount ? "server" : "config.server"}.${name}`, slug);
      const words = isAccount ? [name, word] : ["servers", name, word, "--json"];
      return toAnswer(await command(deps, request, words));
    },
  });
}

function runDoctor(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/doctor",
    right: gatewayAdmin,
    operation: {
      id: "runDoctor",
      tag,
      summary: "Problems of this installation, and how to fix them",
      description: "No server is started for it, and tokens in files of clients are not tried.",
      responses: answers(outcome, "What was found."),
    },
    handle: async (request) => toAnswer(await command(deps, request, ["doctor", "--json", "--no-start"])),
  });
}

type Outcome = z.output<typeof outcome>;

/** As text what the facts say: what terminals are told beside it are options of commands. */
function withChanges(given: Outcome): Outcome {
  const [fact] = given.facts;
  if (fact === undefined) return given;
  const lines = ["changes", "notes"].flatMap((name) => (Array.isArray(fact[name]) ? fact[name] : []));
  return { ...given, text: [...lines.map(String), given.text].join("\n").trim() };
}

/** Throws FORBIDDEN for all who may not manage the gateway, before anything is run. */
async function command(deps: RestDeps, request: RestRequest, words: readonly string[]): Promise<Outcome> {
  const management = requireManager(deps, request);
  return toOutcome(await management.run(words, abortedWith(request.response)), deps.redact);
}

function toOutcome({ code, stdout, stderr }: CommandOutcome, redact: (text: string) => string): Outcome {
  const lines = stdout.split("\n").filter((line) => line.trim() !== "");
  const facts = lines.map(parseLine).filter((fact) => fact !== undefined);
  const said = facts.length === lines.length ? "" : stdout;
  return {
    ok: code === 0,
    text: redact(
      [said, stderr]
        .map((text) => text.trim())
        .join("\n")
        .trim(),
    ),
    facts,
  };
}

function parseLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function toAnswer(value: Outcome): Answer {
  return jsonAnswer(value, { "Cache-Control": "no-store" });
}

async function order(deps: RestDeps, request: RestRequest, action: string, object: string): Promise<void> {
  requireManager(deps, request);
  const { id: actor, team } = request.principal;
  await deps.audit.order({ actor, team, via: "rest", action, object });
}

/** A word that no command takes for an option. Throws PARAMS_INVALID. */
function plainWord(field: string, word: string): string {
  if (word !== "" && !word.startsWith("-")) return word;
  throw new GatewayError("PARAMS_INVALID", `body.${field}: is empty, or begins with a hyphen`, {
    data: { field: `body.${field}` },
  });
}
