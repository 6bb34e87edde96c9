import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { findClient } from "../../config/clients/table/client-table.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { order, outcome, runOwn, type Outcome } from "../request/command-run.ts";
import { requireLoginForPrograms } from "../request/manager.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

const tag = "Clients and servers";

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
            isUndoable: z.boolean().describe("Whether `undo` would take something back."),
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

const listClients = operation({
  route: "GET /api/clients",
  right: gatewayAdmin,
  id: "listClients",
  tag,
  summary: "AI clients of this machine, and which gateway they use",
  responses: answers(clientList, "Clients that were found."),
  async run(services, request) {
    const { facts, text } = await runOwn(services, request, ["clients", "--json"]);
    const [found] = facts;
    if (found === undefined) throw new GatewayError("INTERNAL", text);
    return found;
  },
});

const clientActions = [
  { name: "connect", summary: "Have a client use this gateway", words: (id: string) => ["connect", id] },
  { name: "disconnect", summary: "Take our entry out of a client", words: (id: string) => ["disconnect", id] },
  {
    name: "undo",
    summary: "Undo the last change of a client's file",
    words: (id: string) => ["connect", id, "--undo"],
  },
] as const;

function changeClient({ name, summary, words }: (typeof clientActions)[number]): Operation {
  return operation({
    route: `POST /api/clients/{id}/${name}`,
    right: gatewayAdmin,
    params: z.object({ id: schemas.name.describe("As `GET /api/clients` has it.") }),
    id: `${name}Client`,
    tag,
    summary,
    body: applyBody,
    responses: answers(outcome, "What was changed, or would be.", [415]),
    async run(services, request) {
      const { apply = false, replace = false } = request.body;
      const { id } = request.params;
      if (findClient(id) === undefined)
        throw new GatewayError("PARAMS_INVALID", "params.id: there is no such client", {
          data: { field: "params.id" },
        });
      const options = [...(apply ? ["--yes"] : ["--dry-run"]), ...(replace && name === "connect" ? ["--replace"] : [])];
      if (apply) await order(services, request, `client.${name}`, id);
      return withChanges(await runOwn(services, request, [...words(id), "--json", ...options]));
    },
  });
}

const importServers = operation({
  route: "POST /api/import",
  right: gatewayAdmin,
  id: "importServers",
  tag,
  summary: "Take over servers of AI clients",
  body: importBody,
  responses: answers(outcome, "What was taken over, or would be. `facts` has the plan.", [415]),
  async run(services, request) {
    const { apply = false, only, secrets } = request.body;
    const options = [
      ...(apply ? ["--yes"] : ["--dry-run"]),
      ...(secrets === undefined ? [] : ["--secrets", secrets]),
      ...(only ?? []).flatMap((name) => [`--only=${name}`]),
    ];
    if (apply) requireLoginForPrograms(services, request);
    if (apply) await order(services, request, "config.import", "");
    return await runOwn(services, request, ["import", "--json", ...options]);
  },
});

const runDoctor = operation({
  route: "GET /api/doctor",
  right: gatewayAdmin,
  id: "runDoctor",
  tag,
  summary: "Problems of this installation, and how to fix them",
  description: "No server is started for it, and tokens in files of clients are not tried.",
  responses: answers(outcome, "What was found."),
  run: async (services, request) => await runOwn(services, request, ["doctor", "--json"]),
});

/** As text what the facts say: what terminals are told beside it are options of commands. */
function withChanges(given: Outcome): Outcome {
  const [fact] = given.facts;
  if (fact === undefined) return given;
  const lines = ["changes", "notes"].flatMap((name) => (Array.isArray(fact[name]) ? fact[name] : []));
  return { ...given, text: [...lines.map(String), given.text].join("\n").trim() };
}

/**
 * What the terminal does to files, over REST: each is the command of that name, run with this gateway's configuration.
 */
export const commandOperations: readonly Operation[] = [
  listClients,
  ...clientActions.map((action) => changeClient(action)),
  importServers,
  runDoctor,
];
