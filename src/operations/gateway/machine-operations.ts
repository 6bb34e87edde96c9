import * as z from "zod";
import { findClient } from "../../config/clients/table/client-table.ts";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { seeNodes } from "./node-operations.ts";
import type { Finding, SeenGateway } from "../machine/doctor/doctor-finding.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { peopleStanding } from "../people/account-operations.ts";
import { requireLoginForPrograms, onMachine, order } from "../request/manager.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Services } from "../services.ts";
import { noteUpkeep } from "./database-operations.ts";

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
            isUndoable: z.boolean().describe("Whether a change is kept that `undo` can be asked to take back."),
            problems: z.array(z.string()),
          }),
        ),
        sessions: z.int().nullable().describe("With this gateway, that are open now."),
      }),
    ),
  })
  .meta({ id: "ClientList" });

const applyBody = z
  .object({
    apply: z.boolean().optional().describe("False, as by default, only shows what would be changed."),
    replace: z.boolean().optional().describe("Switch off in the client what the gateway has as well."),
    profile: z.string().max(100).optional().describe("When connecting: only what this profile has."),
    off: z
      .array(z.string().max(500))
      .max(1_000)
      .optional()
      .describe("Instead of `replace`: switch off these alone, by the names that `shared` has."),
  })
  .meta({ id: "ClientChange" });

const clientFileChange = z
  .object({
    client: z.string(),
    file: z.string(),
    outcome: z
      .enum(["unchanged", "dry-run", "connected", "disconnected", "removed", "restored", "taken back"])
      .describe("`taken back`: the file was written again since, and only what was ours was taken out."),
    changed: z.boolean(),
    shared: z
      .array(
        z.object({
          name: z.string().describe("In the client's file."),
          server: z.string().describe("Its slug here."),
          tokens: z.int().nullable().describe("What its tools cost the model that sees them twice; null: unknown."),
        }),
      )
      .describe("Servers that the client has itself, and the gateway as well."),
    changes: z.array(z.string()).describe("Lines of the files, without secrets. None where nothing has to be changed."),
    notes: z.array(z.string()),
    reload: z.string().describe("How the client is made to read its file again."),
  })
  .meta({ id: "ClientFileChange" });

const importBody = z
  .object({
    apply: z.boolean().optional().describe("False, as by default, only shows what would be taken over."),
    only: z.array(z.string().max(500)).max(1_000).optional().describe("Names as the preview has them. Default: all."),
    secrets: z.enum(["keep", "variables"]).optional().describe("What becomes of secrets that stand in the files."),
  })
  .meta({ id: "ImportChoice" });

const sighting = { client: z.string(), name: z.string().describe("What it is called there."), place: z.string() };

const importPlan = z
  .object({
    config: z.string().describe("The file that servers are added to."),
    servers: z.array(
      z.object({
        name: z.string(),
        command: z.string().describe("With its arguments, or the address; without secrets."),
        isRemote: z.boolean(),
        enabled: z.boolean(),
        seen: z.array(z.object(sighting)),
        configuredAs: schemas.nullableText.describe("The name that the configuration has it under already."),
        marks: z.array(z.string()).describe("What somebody should look at before it is started."),
        preselected: z.boolean(),
        secrets: z.array(
          z.object({
            where: z.string(),
            variable: z.string(),
            isSet: z.boolean(),
            scheme: z.string().optional(),
          }),
        ),
        tools: z.unknown().describe("Rules for its tools; null where it has none."),
        missing: z.array(z.string()).describe("Variables that have to be set."),
        notes: z.array(z.string()),
      }),
    ),
    gateways: z.array(z.object({ ...sighting, gateway: z.string(), isOurs: z.boolean() })),
    problems: z.array(z.string()),
    written: z
      .object({ file: z.string(), backup: schemas.nullableText })
      .nullable()
      .describe("Null where nothing was written."),
  })
  .meta({ id: "ImportPlan" });

const doctorReport = z
  .object({
    ok: z.boolean().describe("Whether nothing is broken."),
    findings: z.array(
      z.object({
        kind: z.enum(["ok", "warn", "fail"]),
        what: z.string(),
        todo: schemas.nullableText.describe("Null where there is nothing to do."),
        where: z.string().optional().describe("The file and the key in it, or the variable."),
      }),
    ),
  })
  .meta({ id: "DoctorReport" });

const listClients = operation({
  route: "GET /api/clients",
  right: gatewayAdmin,
  id: "listClients",
  tag,
  summary: "AI clients of this machine, and which gateway they use",
  responses: answers(clientList, "Clients that were found.", [429, 504]),
  run: async (services, request) =>
    await onMachine(services, request, async ({ machine: { place }, code, signal }) => {
      const connected = services.connections().map(({ client }) => client);
      return { clients: await code.orderInThread("list", place, connected, signal) };
    }),
});

const clientActions = [
  { action: "connect", summary: "Have a client use this gateway" },
  { action: "disconnect", summary: "Take our entry out of a client" },
  { action: "undo", summary: "Undo the last change of a client's file" },
] as const;

function changeClient({ action, summary }: (typeof clientActions)[number]): Operation {
  return operation({
    route: `POST /api/clients/{id}/${action}`,
    right: gatewayAdmin,
    params: z.object({ id: schemas.name.describe("As `GET /api/clients` has it.") }),
    id: `${action}Client`,
    tag,
    summary,
    body: applyBody,
    responses: answers(clientFileChange, "What was changed, or would be.", [409, 415, 429, 504]),
    async run(services, request) {
      const { apply = false, replace = false, off = replace ? ("all" as const) : [] } = request.body;
      const { profile } = request.body;
      const { id } = request.params;
      if (findClient(id) === undefined)
        throw new GatewayError("PARAMS_INVALID", "params.id: there is no such client", {
          data: { field: "params.id" },
        });
      if (apply) await order(services, request, `client.${action}`, id);
      const change = { action, id, off, profile, isApplied: apply };
      const facts = await onMachine(services, request, async ({ machine: { place }, code, signal }) => {
        return await code.orderInThread("change", place, change, apply ? undefined : signal);
      });
      const tokens =
        facts.shared.length === 0 ? new Map<string, number>() : await tokensOf(services, request.principal);
      return { ...facts, shared: facts.shared.map((one) => ({ ...one, tokens: tokens.get(one.server) ?? null })) };
    },
  });
}

/** What the tools of each server cost in a flat list, of servers whose tools are known. */
async function tokensOf(services: Services, principal: Principal): Promise<ReadonlyMap<string, number>> {
  const { servers } = await services.tokens({ principal, exposure: undefined, of: principal.id, waitMs: 0 });
  return new Map(servers.flatMap(({ server, tokens, isKnown }) => (isKnown ? [[server, tokens] as const] : [])));
}

const importServers = operation({
  route: "POST /api/import",
  right: gatewayAdmin,
  id: "importServers",
  tag,
  summary: "Take over servers of AI clients",
  body: importBody,
  responses: answers(importPlan, "What was found, and whether it was taken over.", [409, 415, 429, 504]),
  async run(services, request) {
    const { apply = false, only = [], secrets = "keep" } = request.body;
    if (apply) requireLoginForPrograms(services, request);
    if (apply) await order(services, request, "config.import", "");
    return await onMachine(services, request, async ({ machine: { place }, code, signal }) => {
      const asked = { only, secrets, isApplied: apply };
      return await code.orderInThread("import", place, asked, apply ? undefined : signal);
    });
  },
});

const runDoctor = operation({
  route: "GET /api/doctor",
  right: gatewayAdmin,
  id: "runDoctor",
  tag,
  summary: "Problems of this installation, and how to fix them",
  description: "No server is started for it, and tokens in files of clients are not tried.",
  responses: answers(doctorReport, "What was found.", [429, 504]),
  async run(services, request) {
    const findings = await examineMachine(services, request);
    return { ok: findings.every(({ kind }) => kind !== "fail"), findings };
  },
});

/** What the doctor finds, from within the gateway. Throws FORBIDDEN for all who may not manage it. */
export async function examineMachine(services: Services, request: OperationRequest): Promise<readonly Finding[]> {
  return await onMachine(services, request, async ({ machine: { place }, code, signal }) => {
    const found: Finding[] = [];
    await code.examine({
      ...{ place, signal },
      tell: (...findings) => void found.push(...findings),
      gateway: async () => await seeGateway(services, request),
      checkClients: async ({ url, triesTokens, measured }) =>
        await code.orderInThread("check", place, { url, triesTokens, measured }, signal),
      during: async (_what, work) => await work(),
    });
    return found;
  });
}

/** This gateway, without a way through its own door. */
async function seeGateway(services: Services, request: OperationRequest): Promise<SeenGateway> {
  const { principal } = request;
  const status = await services.status({ principal, isAdmin: true });
  return {
    ...{ pid: status.pid ?? process.pid, url: status.addresses[0] ?? null, version: services.version },
    status: async () => await Promise.resolve(status),
    people: async () => await Promise.resolve(services.people() === undefined ? undefined : peopleStanding(services)),
    cluster: async () => (services.nodes() === undefined ? undefined : await seeNodes(services)),
    async databases() {
      await noteUpkeep(services, request, "state.check");
      return await services.upkeep.check();
    },
  };
}

/** Orders on the machine of the gateway, with its configuration and its data directory. */
export const machineOperations: readonly Operation[] = [
  listClients,
  ...clientActions.map((action) => changeClient(action)),
  importServers,
  runDoctor,
];
