import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { requireLoginForPrograms, requireManager, onMachine, order } from "../request/manager.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import type { Services } from "../services.ts";
import { requireEntry } from "./server-entry-operations.ts";
import { changedBy } from "./server-order-operations.ts";

const tag = "Servers and instances";
const params = z.object({ slug: schemas.name });

const variableList = z
  .object({
    variables: z.array(
      z.object({
        name: z.string(),
        from: z
          .enum(["environment", "kept", "default", "nowhere"])
          .describe("`nowhere`: the server cannot be used without a value."),
      }),
    ),
  })
  .meta({ id: "ServerVariables" });

const keptVariables = z
  .object({
    values: z
      .record(z.string(), z.string().min(1).max(10_000).nullable())
      .describe("By the name of the variable; null forgets the value that is kept."),
  })
  .meta({ id: "KeptVariables" });

const listVariables = operation({
  route: "GET /api/servers/{slug}/variables",
  right: gatewayAdmin,
  params,
  id: "listServerVariables",
  tag,
  summary: "Variables that a server's entry refers to, without their values",
  responses: answers(variableList, "In the order of the entry.", [404, 429, 504]),
  run: async (services, request) => await readVariables(services, request, request.params.slug),
});

const keepVariables = operation({
  route: "PATCH /api/servers/{slug}/variables",
  right: gatewayAdmin,
  params,
  id: "keepServerVariables",
  tag,
  summary: "Keep values of variables, encrypted",
  description:
    "For variables that the server's entry refers to. A value holds for every configuration of the gateway's user that " +
    "names the variable, while the variable itself is not set, and is never shown again. What refers to it is started " +
    "with it, before the answer.",
  body: keptVariables,
  responses: answers(variableList, "The variables after that.", [404, 409, 415, 429, 504]),
  async run(services, request) {
    const { slug } = request.params;
    const { values } = request.body;
    requireManager(services, request);
    requireLoginForPrograms(services, request);
    const { variables } = await readVariables(services, request, slug);
    for (const name of Object.keys(values)) requireKeepable(variables, name);
    for (const [name, value] of Object.entries(values))
      await order(services, request, `config.variable.${value === null ? "forget" : "keep"}`, name);
    await onMachine(services, request, async ({ machine, code, signal }) => {
      const given = Object.entries(values).map(([name, value]) => [name, value ?? undefined]);
      await code.keepValues(machine.place, Object.fromEntries(given));
      const { key } = requireEntry(await requireManager(services, request).entries(), slug);
      await code.waitInForce(changedBy(services, request), { key, slug, isToRun: false }, signal);
    });
    return await readVariables(services, request, slug);
  },
});

type Variables = z.output<typeof variableList>;

async function readVariables(services: Services, request: OperationRequest, slug: string): Promise<Variables> {
  const entry = requireEntry(await requireManager(services, request).entries(), slug);
  return await onMachine(services, request, async ({ machine, code }) => ({
    variables: [...(await code.serverVariables(machine.place, entry))],
  }));
}

/** Throws PARAMS_INVALID for a variable that the server does not take, and for one that is set already. */
function requireKeepable(variables: Variables["variables"], name: string): void {
  const variable = variables.find((one) => one.name === name);
  const why =
    variable === undefined
      ? "the entry of the server refers to no such variable"
      : variable.from === "environment"
        ? "it is set where the gateway was started, which takes precedence"
        : undefined;
  if (why === undefined) return;
  throw new GatewayError("PARAMS_INVALID", `body.values.${name}: ${why}`, { data: { field: `body.values.${name}` } });
}

/** Values that servers take from elsewhere. */
export const serverVariableOperations: readonly Operation[] = [listVariables, keepVariables];
