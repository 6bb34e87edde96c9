import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { instanceStatuses } from "../../kernel/status-words.ts";
import {
  onMachine,
  order,
  outcome,
  type OnMachine,
  type Outcome,
  requireLoginForPrograms,
  requireManager,
} from "../request/manager.ts";
import type { NewInFile } from "../machine/servers/added-server.ts";
import type { ChangedGateway } from "../machine/servers/await-config.ts";
import type { AddedWords } from "../machine/servers/server-words.ts";
import type { ServerTrial } from "../machine/servers/trial-result.ts";
import type { MachineCode } from "../request/management.ts";
import { requireEntry } from "./server-entry-operations.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import type { Services } from "../services.ts";

const tag = "Clients and servers";

/** A hyphen at its beginning would make it an option of our commands. */
const word = (most: number) => z.string().max(most).regex(/^[^-]/, "is empty, or begins with a hyphen");

const values = (about: string) =>
  z.record(z.string().min(1).max(200), z.string().max(10_000)).optional().describe(about);

/** Where a new server comes from: one of these. */
const source = {
  name: word(200).optional().describe("Not needed for a package."),
  command: z.array(z.string().max(10_000)).max(200).optional().describe("A program and its arguments."),
  target: word(4_096)
    .optional()
    .describe("An address, `npm:package`, `pypi:package`, or a name of the registry or of a tested server."),
  entry: schemas.json.optional().describe("A whole entry, as in `mcpServers` of the configuration."),
  env: values("Variables of it, and what else it takes by name. Secrets are kept encrypted, outside of the file."),
  headers: values("Headers that are sent to an address. Secrets are kept encrypted, outside of the file."),
  sandbox: z
    .boolean()
    .optional()
    .describe("True: its process is tried in a sandbox, and its entry says so. Not for an address."),
};

const triedServer = z.object(source).meta({ id: "TriedServer" });

const newServer = z
  .object({
    ...source,
    test: z.boolean().optional().describe("False does not try it first."),
    loosened: z
      .literal(true)
      .optional()
      .describe("A person has agreed to an entry that loosens its sandbox: it is neither started nor written else."),
    examples: z.literal(true).optional().describe("In place of all else: three servers to try the gateway with."),
  })
  .meta({ id: "NewServer" });

const said = schemas.nullableText.describe("As the server says it.");

const trial = z
  .object({
    ok: z.boolean().describe("Whether it could be used as it is."),
    name: z.string(),
    status: z.enum(instanceStatuses),
    reason: z.string(),
    code: schemas.nullableText.describe("Of the failure; null where it is none."),
    hint: schemas.nullableText.describe("What to do about it."),
    server: z.object({ name: said, title: said, version: said }).nullable().describe("Null when it was not reached."),
    revision: schemas.nullableText.describe("Of the protocol, that it was reached with."),
    eras: z.array(z.enum(["legacy", "modern"])).describe("Of the protocol, that it speaks."),
    offers: z
      .object({ tools: z.int(), resources: z.int(), templates: z.int(), prompts: z.int(), skills: z.int() })
      .nullable()
      .describe("All that it offers; null when unknown."),
    tools: z
      .array(z.object({ name: z.string(), description: z.string(), readOnly: z.boolean() }))
      .describe("Those that the rules of its entry let through."),
    tokens: z.int().describe("What these cost in a flat list."),
    durationMs: z.int().describe("From its start until it was usable, or was given up."),
    output: z.array(z.string()).describe("The last lines of its stderr, without secrets."),
  })
  .meta({ id: "ServerTrial" });

const addServer = operation({
  route: "POST /api/servers",
  right: gatewayAdmin,
  id: "addServer",
  tag,
  summary: "Try a server, and add it to the configuration",
  description: "It is started apart from the gateway first, and written only if it answers.",
  body: newServer,
  responses: answers(outcome, "What came of it.", [409, 415, 429, 502, 504]),
  async run(services, request) {
    const { test = true, examples, loosened, ...given } = request.body;
    requireLoginForPrograms(services, request);
    const { name, command, target, entry } = given;
    if (examples === true && command === undefined && target === undefined && entry === undefined) {
      await order(services, request, "config.server.add", "examples");
      return await onMachine(services, request, async (means) => await addExamples(services, request, means));
    }
    refuseSeveral(given);
    await order(services, request, "config.server.add", name ?? target ?? "");
    return await onMachine(services, request, async (means) => {
      const { machine, code, signal } = means;
      const fresh = await makeNew(means, given);
      if (fresh.loosened.length > 0 && loosened !== true)
        return toOutcome(services, false, [...fresh.said, untried], [{ asks: "loosened", marks: fresh.loosened }]);
      const trial = test ? await tryNew(means, fresh) : undefined;
      const tried = trial === undefined ? [] : code.toTrialText(trial);
      const said = [...fresh.said, ...tried];
      if (!code.isWorthAdding(trial)) {
        const asks = given.sandbox === true ? [{ asks: "sandbox" }] : [];
        return toOutcome(services, false, [...said, "Nothing was written."], asks);
      }
      signal.throwIfAborted();
      const { server, facts, said: more } = await code.writeNew(machine.place, fresh, trial);
      const inForce = await code.waitInForce(changedBy(services, request), server, signal);
      const isGood = inForce.kind === "applied";
      return toOutcome(services, isGood, [...said, ...more], [{ ...facts, inForce }]);
    });
  },
});

const untried = "Nothing was started or written: a person has to agree to what its sandbox lets it do.";

async function addExamples(
  services: Services,
  request: OperationRequest,
  { machine, code, signal }: OnMachine,
): Promise<Outcome> {
  const { what, last, facts } = await code.writeExamples(machine.place);
  if (last === undefined) return toOutcome(services, true, [what], [facts]);
  const inForce = await code.waitInForce(changedBy(services, request), last, signal);
  return toOutcome(services, inForce.kind === "applied", [], [{ ...facts, inForce }]);
}

function toOutcome({ redact }: Services, ok: boolean, lines: readonly string[], facts: readonly JsonObject[]): Outcome {
  return { ok, text: redact(lines.join("\n")), facts: [...facts] };
}

/** This gateway, as it applies a change of its file. */
export function changedBy(services: Services, { principal }: OperationRequest): ChangedGateway {
  return {
    drift: services.configDrift,
    servers: async () => (await services.status({ principal, isAdmin: true })).servers,
  };
}

const tryServer = operation({
  route: "POST /api/servers/test",
  right: gatewayAdmin,
  id: "testNewServer",
  tag,
  summary: "Try a server that is not in the configuration",
  description:
    "It is started apart from the gateway, asked for what it offers, and stopped with all that it started; " +
    "nothing is written. Three at once, and thirty a minute, together with those of the configuration. That it " +
    "does not work is an answer, and no failure.",
  body: triedServer,
  responses: answers(trial, "What came of it.", [415, 429, 502, 504]),
  async run(services, request) {
    requireManager(services, request);
    const given = request.body;
    requireLoginForPrograms(services, request);
    refuseSeveral(given);
    using _turn = services.trials.take(keyOf(services, request));
    // A program that is in no file is started: nothing else would tell of it later.
    const what = given.target ?? given.command?.[0] ?? given.name ?? "";
    await order(services, request, "server.test", what.slice(0, 1_000));
    return await onMachine(services, request, async (means) =>
      toTrial(await tryNew(means, await makeNew(means, given))),
    );
  },
});

/** Of whose trials these are: those of the caller's team, and otherwise those of the gateway. */
function keyOf(services: Services, { principal }: Pick<OperationRequest, "principal">): string {
  const team = principal.team === null ? undefined : services.people()?.book.teamOf(principal.team);
  return team?.id ?? "";
}

function toTrial({ key, isUsable, ...told }: ServerTrial): z.output<typeof trial> {
  return trial.parse({ ...told, ok: isUsable, name: key });
}

type Given = z.output<typeof triedServer>;

/** Throws PARAMS_INVALID. */
function refuseSeveral({ command, target, entry }: Given): void {
  if ([command, target, entry].filter((given) => given !== undefined).length === 1) return;
  throw new GatewayError("PARAMS_INVALID", "body: needs either a command, a target or an entry", {
    data: { field: "body" },
  });
}

async function makeNew({ machine, code, signal }: OnMachine, given: Given): Promise<NewInFile> {
  const { env = {}, headers = {} } = given;
  const values = { env: Object.entries(env), headers: Object.entries(headers) };
  const wanted = { ...readGiven(given, code), ...values, ...nothingElse };
  const fresh = await code.makeNew(machine.place, wanted, { signal, ask: undefined });
  return given.sandbox === true ? await code.inSandbox(fresh) : fresh;
}

const nothingElse = { remoteKind: "http", literalSecrets: false, from: undefined } as const;

/** As the words of `toolyard servers add` say it. */
function readGiven({ name, command, target, entry }: Given, code: MachineCode): AddedWords {
  const named = name === undefined ? [] : [name];
  if (entry !== undefined) return code.readEntryWords(named, entry);
  if (command !== undefined) return code.readAddedWords([...named, ...command], command);
  return code.readAddedWords([...named, target ?? ""], undefined);
}

async function tryNew({ machine, code, signal }: OnMachine, { made, edited, text }: NewInFile): Promise<ServerTrial> {
  const { file } = edited.opened;
  return await machine.tryServer({ key: made.name, text: { file, text }, variables: code.givenTo(made) }, signal);
}

const params = z.object({ slug: schemas.name });

const testServer = operation({
  route: "POST /api/servers/{slug}/test",
  right: gatewayAdmin,
  params,
  id: "testServer",
  tag,
  summary: "Try a server apart from the gateway",
  responses: answers(trial, "What came of it.", [404, 415, 429, 504]),
  async run(services, request) {
    requireManager(services, request);
    using _turn = services.trials.take(keyOf(services, request));
    return await onMachine(services, request, async ({ machine, signal }) =>
      toTrial(await machine.tryServer({ key: request.params.slug }, signal)),
    );
  },
});

const loginActions = [
  { name: "login", summary: "Log in at a server, in a browser on the machine of the gateway" },
  { name: "logout", summary: "Forget a login at a server" },
] as const;

function changeLogin({ name, summary }: (typeof loginActions)[number]): Operation {
  return operation({
    route: `POST /api/servers/{slug}/${name}`,
    right: gatewayAdmin,
    params,
    id: `${name}Server`,
    tag,
    summary,
    responses: answers(outcome, "What came of it.", [404, 415, 429, 502, 504]),
    async run(services, request) {
      const { slug } = request.params;
      requireEntry(await requireManager(services, request).entries(), slug);
      await order(services, request, `server.${name}`, slug);
      return await onMachine(services, request, async ({ machine, signal }) => {
        if (name === "login") await machine.logIn(slug, signal);
        const wasThere = name === "login" || (await machine.logOut(slug));
        const said = name === "login" ? "logged in to" : wasThere ? "logged out of" : "no one was logged in to";
        return toOutcome(services, true, [`${said} ${slug}`], []);
      });
    },
  });
}

/** Servers of the configuration file, and those that are to be in it. */
export const serverOrderOperations: readonly Operation[] = [
  addServer,
  tryServer,
  testServer,
  ...loginActions.map((action) => changeLogin(action)),
];
