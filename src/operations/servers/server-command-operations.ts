import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { instanceStatuses } from "../../kernel/status-words.ts";
import { order, outcome, plainWord, runOwn, type Outcome } from "../request/command-run.ts";
import { requireLoginForPrograms, requireManager } from "../request/manager.ts";
import { requireEntry } from "./server-entry-operations.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import type { Services } from "../services.ts";

const tag = "Clients and servers";

/** Where a new server comes from: one of these. */
const source = {
  name: z.string().max(200).optional().describe("Not needed for a package."),
  command: z.array(z.string().max(10_000)).max(200).optional().describe("A program and its arguments."),
  target: z.string().max(4_096).optional().describe("An address, `npm:package`, `pypi:package`, or a registry name."),
  entry: schemas.json.optional().describe("A whole entry, as in `mcpServers` of the configuration."),
};

const triedServer = z.object(source).meta({ id: "TriedServer" });

const newServer = z
  .object({
    ...source,
    test: z.boolean().optional().describe("False does not try it first."),
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
  responses: answers(outcome, "What came of it.", [415]),
  async run(services, request) {
    const { test = true, examples, ...given } = request.body;
    requireLoginForPrograms(services, request);
    const { name, command, target, entry } = given;
    if (examples === true && command === undefined && target === undefined && entry === undefined) {
      await order(services, request, "config.server.add", "examples");
      return await runOwn(services, request, ["servers", "add", "--examples", "--json"]);
    }
    const { words, input } = toWords(given, test ? [] : ["--no-test"]);
    await order(services, request, "config.server.add", name ?? target ?? "");
    return await runOwn(services, request, words, input);
  },
});

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
  responses: answers(trial, "What came of it.", [415, 429]),
  async run(services, request) {
    requireManager(services, request);
    const given = request.body;
    requireLoginForPrograms(services, request);
    const { words, input } = toWords(given, ["--dry-run"]);
    using _turn = services.trials.take(keyOf(services, request));
    // A program that is in no file is started: nothing else would tell of it later.
    const what = given.target ?? given.command?.[0] ?? given.name ?? "";
    await order(services, request, "server.test", what.slice(0, 1_000));
    return toTrial(await runOwn(services, request, words, input));
  },
});

/** Of whose trials these are: those of the caller's team, and otherwise those of the gateway. */
function keyOf(services: Services, { principal }: Pick<OperationRequest, "principal">): string {
  const team = principal.team === null ? undefined : services.people()?.book.teamOf(principal.team);
  return team?.id ?? "";
}

/** Throws CONFIG_INVALID where it did not come to a trial. */
function toTrial({ facts, text }: Outcome): z.output<typeof trial> {
  const [found] = facts;
  if (found === undefined)
    throw new GatewayError("CONFIG_INVALID", text.slice(0, 1_000), { hint: "Correct what is to be tried." });
  const { key, isUsable, ...told } = found;
  return trial.parse({ ...told, ok: isUsable, name: key });
}

interface CommandWords {
  readonly words: readonly string[];
  readonly input: string | undefined;
}

/** The words of `servers add`. An entry is read as input: it may have secrets in it. */
function toWords(
  { name, command, target, entry }: z.output<typeof triedServer>,
  options: readonly string[],
): CommandWords {
  if ([command, target, entry].filter((given) => given !== undefined).length !== 1)
    throw new GatewayError("PARAMS_INVALID", "body: needs either a command, a target or an entry", {
      data: { field: "body" },
    });
  const start = ["servers", "add", ...(name === undefined ? [] : [plainWord("name", name)])];
  const all = [...options, "--json"];
  if (entry !== undefined) return { words: [...start, ...all, "--entry", "-"], input: toInput(entry) };
  if (command !== undefined) return { words: [...start, ...all, "--", ...command], input: undefined };
  return { words: [...start, plainWord("target", target ?? ""), ...all], input: undefined };
}

function toInput(entry: JsonObject): string {
  return JSON.stringify(entry);
}

const serverActions = [
  { name: "test", summary: "Try a server apart from the gateway" },
  { name: "login", summary: "Log in at a server, in a browser on the machine of the gateway" },
  { name: "logout", summary: "Forget a login at a server" },
] as const;

function runAction({ name, summary }: (typeof serverActions)[number]): Operation {
  return operation({
    route: `POST /api/servers/{slug}/${name}`,
    right: gatewayAdmin,
    params: z.object({ slug: schemas.name }),
    id: `${name}Server`,
    tag,
    summary,
    responses: answers(outcome, "What came of it.", [404, 415, ...(name === "test" ? [429 as const] : [])]),
    async run(services, request) {
      const { slug } = request.params;
      const word = plainWord("slug", slug);
      // The commands take an address of another gateway as well.
      if (name !== "test") requireEntry(await requireManager(services, request).entries(), slug);
      if (name !== "test") await order(services, request, `server.${name}`, slug);
      requireManager(services, request);
      using _turn = name === "test" ? services.trials.take(keyOf(services, request)) : undefined;
      return await runOwn(services, request, name === "test" ? ["servers", name, word, "--json"] : [name, word]);
    },
  });
}

/** Servers of the configuration file: each of these is the command of that name. */
export const serverCommandOperations: readonly Operation[] = [
  addServer,
  tryServer,
  ...serverActions.map((action) => runAction(action)),
];
