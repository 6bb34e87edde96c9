import * as z from "zod";
import { entryPatchChanges } from "../../config/edit/entry-patch.ts";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { describeLearning, mostLearned, type Learning } from "../../servers/sandbox/learned-names.ts";
import { order, outcome, requireManager, type Outcome } from "../request/manager.ts";
import { requireEntry } from "./server-entry-operations.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import type { Services } from "../services.ts";

const tag = "Servers and instances";
const params = z.object({ slug: schemas.name });

export const learningSchema = z
  .object({
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    isOver: z.boolean(),
    network: z.array(z.string()).describe("The hosts that it reached, as `sandbox.network` has them."),
    isFull: z.boolean().describe(`Whether it reached more than ${mostLearned}, of which the rest is not noted.`),
  })
  .meta({ id: "SandboxLearning" });

const learned = z
  .object({
    learning: learningSchema,
    isNew: z.boolean().describe("Whether noting began with this order."),
    written: schemas.nullableText.describe("The file that has the list now; null where it was not to be written."),
  })
  .meta({ id: "LearnedSandbox" });

const minuteMs = 60_000;
const dayMs = 86_400_000;
const mostDays = 30;

const learnOrder = z
  .object({
    forMs: z
      .int()
      .min(minuteMs)
      .max(mostDays * dayMs)
      .optional()
      .describe("Begins again, for so long. First: a day."),
    keep: z.literal(true).optional().describe("Writes what was noted into the server's entry, in place of its list."),
  })
  .meta({ id: "SandboxLearnOrder" });

export const learnSandbox = operation({
  route: "POST /api/servers/{slug}/sandbox/learn",
  right: gatewayAdmin,
  params,
  id: "learnSandbox",
  tag,
  summary: "Note the hosts that a server in a sandbox reaches, and make a list of them",
  description:
    "The first order begins noting, for a day; later ones answer what was noted. With `keep`, that becomes " +
    "`sandbox.network` of the server's entry, and noting ends.",
  body: learnOrder,
  responses: answers(learned, "What was noted so far.", [404, 409, 415]),
  async run(services, request) {
    const { slug } = request.params;
    const { forMs, keep } = request.body;
    const names = await openNames(services, request);
    const before = forMs === undefined ? names.of(slug) : undefined;
    if (keep === true) {
      const { network = [] } = before ?? {};
      if (network.length === 0) throw nothingLearned(slug);
      await order(services, request, "config.server.change", slug);
      const file = await writeNetwork(services, request, network.toSorted());
      names.forget(slug);
      return { learning: describeLearning(before as Learning, services.clock.now()), isNew: false, written: file };
    }
    if (before === undefined) await order(services, request, "server.sandbox.learn", slug);
    const learning = before ?? names.begin(slug, forMs ?? dayMs);
    return { learning: describeLearning(learning, services.clock.now()), isNew: before === undefined, written: null };
  },
});

const allowedHost = z.object({
  host: z.string().min(1).max(260).describe("As `sandbox.network` takes it."),
});

export const allowHost = operation({
  route: "POST /api/servers/{slug}/sandbox/allow",
  right: gatewayAdmin,
  params,
  id: "allowSandboxHost",
  tag,
  summary: "Let a server in a sandbox reach one more host",
  description: "The host is added to `sandbox.network` of its entry. The gateway applies it within a second.",
  body: allowedHost.meta({ id: "AllowedSandboxHost" }),
  responses: answers(outcome, "What came of it.", [404, 409, 415]),
  async run(services, request): Promise<Outcome> {
    const { slug } = request.params;
    const { host } = request.body;
    const network = await requireNames(services, request);
    const isNew = !network.includes(host);
    if (isNew) {
      await order(services, request, "config.server.change", slug);
      await writeNetwork(services, request, [...network, host]);
    }
    const text = isNew ? `${slug} may reach ${host}` : `${slug} could reach ${host} already`;
    return { ok: true, text, facts: [{ name: slug, host, changed: isNew }] };
  },
});

type Asked = OperationRequest<z.output<typeof params>>;

/** The names that it may reach. Rejects with SERVER_UNKNOWN, and with SANDBOX_WITHOUT_NAMES where it needs none. */
async function requireNames(services: Services, request: Asked): Promise<readonly string[]> {
  const { slug } = request.params;
  requireEntry(await requireManager(services, request).entries(), slug);
  const rules = services.sandboxes.rulesOf(slug);
  if (rules !== undefined && rules.network !== "host") return rules.network;
  throw new GatewayError(
    "SANDBOX_WITHOUT_NAMES",
    rules === undefined ? `${slug} runs without a sandbox` : `${slug} shares the network of this machine`,
  );
}

async function openNames(services: Services, request: Asked) {
  const network = await requireNames(services, request);
  if (network.length > 0) return await services.sandboxes.learned();
  throw new GatewayError("SANDBOX_WITHOUT_NAMES", `${request.params.slug} may reach no host`);
}

function nothingLearned(slug: string): GatewayError {
  return new GatewayError("SANDBOX_WITHOUT_NAMES", `no host was noted that ${slug} reached`, {
    hint: 'Use the server for a while first. One that needs no network has `"network": []`.',
  });
}

/** Resolves to the file. */
async function writeNetwork(services: Services, request: Asked, network: readonly string[]): Promise<string> {
  const { file } = await requireManager(services, request).changeEntries((now) => {
    const entry = requireEntry(now, request.params.slug);
    return entryPatchChanges(entry, { sandbox: { network: [...network] } }, entry.shown);
  });
  return file;
}

/** Hosts that confined servers reach. */
export const sandboxOperations: readonly Operation[] = [learnSandbox, allowHost];
