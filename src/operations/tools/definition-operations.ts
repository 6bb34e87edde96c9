import { createHash } from "node:crypto";
import * as z from "zod";
import { definitionOwner } from "../../catalog/definitions/definition-origin.ts";
import { ownHash, type Pin } from "../../catalog/definitions/definition-pins.ts";
import { escapeHidden } from "../../catalog/exposure/text/visible-text.ts";
import { pinnedIn } from "../../catalog/model/pinned-texts.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import { definitionReading, hasRole, teamAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { diffLines } from "../../kernel/text/text-diff.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { operation, type Operation } from "../operation.ts";
import { requireOwner } from "../request/manager.ts";
import { toIso } from "../request/people-request.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import type { Services } from "../services.ts";

const tag = "Tools and resources";
const states = ["held", "blocked", "changed", "pinned"] as const;
const state = z
  .enum(states)
  .describe("`held` waits for a person, `changed` is in use though it changed, `pinned` is as it was first seen.");
const hash = z.string().max(64).describe("SHA-256 of the definition as the server wrote it.");

const version = {
  tool: z.string().describe("The server's own name."),
  hash,
  state,
  because: z.array(z.string()).describe("Reasons against it, and things noticed."),
  seenAt: schemas.nullableText,
  decidedBy: schemas.nullableText,
  decidedAt: schemas.nullableText,
};
const server = {
  server: z.string(),
  id: z.string().describe("Of the installation; of one of the configuration, the server's name."),
  team: schemas.nullableText,
};
const definitionList = z
  .object({
    servers: z.array(
      z.object({
        ...server,
        hash: z.string().describe("Of everything that waits, for a decision about all of it."),
        definitions: z.array(z.object(version).meta({ id: "Definition" })),
      }),
    ),
  })
  .meta({ id: "DefinitionList" });

const definitionDiff = z
  .object({
    ...server,
    hash: z.string(),
    definitions: z.array(
      z.object({
        ...version,
        diff: z.array(z.string()).describe("Lines that begin with `-`, `+` or a space; hidden characters are escaped."),
      }),
    ),
    more: z.int().describe("Definitions that are not shown."),
  })
  .meta({ id: "DefinitionDiff" });

const decisionBody = z
  .strictObject({
    tools: z.array(z.string().max(4_096)).min(1).max(1_000).optional().describe("Absent: everything that waits."),
    hash: z.string().max(64).describe("What was looked at: `hash` of the tool, or of the server's list."),
  })
  .meta({ id: "DefinitionDecision" });

const decided = z.object({ tools: z.array(z.string()) }).meta({ id: "DecidedDefinitions" });
const params = z.object({ server: schemas.name.describe("Its name, or the id of an installation.") });

export const listDefinitions = operation({
  route: "GET /api/definitions",
  right: definitionReading,
  query: z.object({ state: z.enum(states).optional() }),
  id: "listDefinitions",
  tag,
  summary: "Definitions of tools that changed, and those that wait for a person",
  description: "Those that are as they were first seen only with `state=pinned`.",
  responses: answers(definitionList, "By server."),
  run: (services, { principal, query }) => ({
    servers: ownersFor(services, principal).flatMap((owner) => {
      const definitions = owner.rows.filter(({ state: own }) =>
        query.state === undefined ? own !== "pinned" : own === query.state,
      );
      if (definitions.length === 0) return [];
      return [{ ...aboutOf(owner), hash: hashOf(waiting(owner)), definitions: definitions.map(toVersion) }];
    }),
  }),
});

export const diffDefinitions = operation({
  route: "GET /api/definitions/{server}/diff",
  right: definitionReading,
  params,
  query: z.object({ tool: z.string().max(4_096).optional() }),
  id: "diffDefinitions",
  tag,
  summary: "How definitions of a server's tools changed",
  responses: answers(definitionDiff, "Those that wait first.", [404]),
  async run(services, { principal, params: { server: name }, query }) {
    const owner = requireOwnerOf(services, principal, name);
    const wanted = owner.rows
      .filter((row) => (query.tool === undefined ? row.state !== "pinned" : row.tool === query.tool))
      .toSorted((one, other) => states.indexOf(one.state) - states.indexOf(other.state));
    const shown = wanted.slice(0, mostShown);
    const definitions = [];
    for (const row of shown) definitions.push({ ...toVersion(row), diff: await diffOf(services, row) });
    const more = wanted.length - shown.length;
    return { ...aboutOf(owner), hash: hashOf(waiting(owner)), definitions, more };
  },
});

/** Each is read by a person, and compared in one turn. */
const mostShown = 50;

function decision<Name extends "approve" | "block">(name: Name, summary: string) {
  return operation({
    route: `POST /api/definitions/{server}/${name as Name}`,
    right: teamAdmin,
    params,
    id: `${name}Definitions`,
    tag,
    summary,
    description: "With the hash that was looked at: if another definition is listed by now, the answer is 409.",
    body: decisionBody,
    responses: answers(decided, "The tools that this decided about.", [404, 409, 413, 415, 503]),
    async run(services, request) {
      const { principal, via, body } = request;
      // Without credentials, any program of the machine could allow what it wants to call.
      if (services.isOpen()) requireOwner(services, request);
      const owner = requireOwnerOf(services, principal, request.params.server);
      const chosen = chosenOf(owner, body);
      const verdict = { state: name === "approve" ? "taken" : "blocked", by: principal.id, via } as const;
      for (const [instance, versions] of byInstance(chosen))
        await services.definitions.decide(instance, versions, verdict);
      return { tools: [...new Set(chosen.map(({ tool }) => tool))] };
    },
  });
}

export const approveDefinitions = decision("approve", "Allow definitions of a server's tools");
export const blockDefinitions = decision("block", "Keep definitions of a server's tools from being used");

/** One version of a tool that some instance lists now. */
interface Row {
  readonly tool: string;
  readonly hash: string;
  readonly state: (typeof states)[number];
  readonly pin: Pin | undefined;
  readonly entry: ToolEntry;
  readonly instance: Instance;
}

interface Owner {
  readonly instance: Instance;
  readonly rows: readonly Row[];
}

const idOf = ({ server: { installed, slug } }: Instance): string => installed?.id ?? slug;

/** What instances list now, by server, as far as the sender decides about it. */
function ownersFor(services: Services, principal: Principal): readonly Owner[] {
  const owners = new Map<string, { readonly instance: Instance; readonly rows: Map<string, Row> }>();
  for (const instance of services.fleet.all()) {
    if (!mayDecide(services, principal, instance)) continue;
    const id = idOf(instance);
    const owner = owners.get(id) ?? { instance, rows: new Map<string, Row>() };
    owners.set(id, owner);
    const catalog = services.fleet.catalogOf(instance.id);
    for (const entry of catalog === undefined ? [] : pinnedIn(catalog)) {
      const row = toRow(services, instance, entry);
      const key = `${row.hash}\n${definitionOwner(instance.server)}`;
      if (!owner.rows.has(key)) owner.rows.set(key, row);
    }
  }
  return [...owners.values()].map(({ instance, rows }) => ({ instance, rows: [...rows.values()] }));
}

/** Servers of the file are the gateway's admins', those that a team installed its admins' as well. */
function mayDecide(services: Services, principal: Principal, { server: { installed } }: Instance): boolean {
  if (principal.via === "owner" || services.isOpen() || principal.roles.includes("admin")) return true;
  return installed !== undefined && principal.team === installed.team && hasRole(principal, "team-admin");
}

function toRow({ definitions }: Services, instance: Instance, entry: ToolEntry): Row {
  const pin = definitions.pinOf(instance.server, entry);
  const taken = pin === undefined || pin.from === null || pin.from === ownHash(entry) ? "pinned" : "changed";
  const held = pin?.state === "blocked" ? "blocked" : "held";
  const own = entry.held === undefined ? taken : held;
  return { tool: entry.upstreamName, hash: ownHash(entry), state: own, pin, entry, instance };
}

/** Throws SERVER_UNKNOWN, and PARAMS_INVALID for a name that several teams gave a server. */
function requireOwnerOf(services: Services, principal: Principal, name: string): Owner {
  const owners = ownersFor(services, principal);
  const byId = owners.find(({ instance }) => idOf(instance) === name);
  const [bySlug, another] = owners.filter(({ instance }) => instance.server.slug === name);
  if (byId === undefined && another !== undefined)
    throw new GatewayError("PARAMS_INVALID", `several teams have a server ${JSON.stringify(name)}`, {
      hint: "Name the installation by its id: GET /api/definitions lists them.",
    });
  const found = byId ?? bySlug;
  if (found === undefined)
    throw new GatewayError("SERVER_UNKNOWN", "there is no such server about whose definitions you decide");
  return found;
}

function waiting({ rows }: Owner): readonly Row[] {
  return rows.filter((row) => row.state === "held");
}

/** Of one version its own hash; of several, of all of them. */
function hashOf(rows: readonly Row[]): string {
  const [first] = rows;
  if (first !== undefined && rows.length === 1) return first.hash;
  const lines = rows.map((row) => `${row.tool}\n${row.hash}`).toSorted();
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

/** Throws TOOL_UNKNOWN, and DEFINITION_CHANGED where something else is listed than was looked at. */
function chosenOf(owner: Owner, { tools, hash: seen }: z.output<typeof decisionBody>): readonly Row[] {
  const named = new Set(tools);
  const chosen = tools === undefined ? waiting(owner) : owner.rows.filter(({ tool }) => named.has(tool));
  if (chosen.length === 0)
    throw new GatewayError("TOOL_UNKNOWN", "no such tool of this server is listed, or none waits for a person");
  // Several versions of a tool may be listed, as in a rollout: each can be decided about alone.
  const exact = tools === undefined ? [] : chosen.filter((row) => row.hash === seen);
  if (exact.length > 0) return exact;
  if (hashOf(chosen) === seen) return chosen;
  throw new GatewayError("DEFINITION_CHANGED", "what was looked at is not what the server lists now", {
    data: { hash: hashOf(chosen) },
  });
}

function byInstance(rows: readonly Row[]): ReadonlyMap<Instance, readonly Row[]> {
  const groups = new Map<Instance, Row[]>();
  for (const row of rows) groups.set(row.instance, [...(groups.get(row.instance) ?? []), row]);
  return groups;
}

function aboutOf({ instance }: Owner) {
  const { slug, installed } = instance.server;
  return { server: slug, id: idOf(instance), team: installed?.team ?? null };
}

function toVersion({ tool, hash: own, state: is, pin }: Row) {
  const { because = [], seenAtMs, decidedBy = null, decidedAtMs } = pin ?? {};
  return {
    ...{ tool, hash: own, state: is, because: [...because], decidedBy },
    seenAt: seenAtMs === undefined ? null : toIso(seenAtMs),
    decidedAt: decidedAtMs === undefined || decidedAtMs === null ? null : toIso(decidedAtMs),
  };
}

/** Comparing takes the square of what differs. */
const mostLines = 1_500;

async function diffOf({ definitions, redact }: Services, { instance, entry, pin, hash: own }: Row): Promise<string[]> {
  const from = pin?.from ?? undefined;
  const texts = await definitions.textsOf(instance.server, new Set([own, ...(from === undefined ? [] : [from])]));
  const before = from === undefined || from === own ? "" : toLines(texts.get(from));
  const after = toLines(JSON.stringify(entry.original ?? entry.definition));
  const tooLong = [before, after].some((text) => text.split("\n").length > mostLines);
  const lines = tooLong ? after.split("\n").map((line) => `+${line}`) : diffLines(before, after);
  return lines.map((line) => redact(escapeHidden(line)));
}

/** A definition over several lines; those of its texts are lines as well. */
function toLines(text: string | undefined): string {
  if (text === undefined) return "";
  return JSON.stringify(JSON.parse(text), null, 2).replaceAll("\\n", "\\n\n    ");
}

/** Definitions of tools that changed, and what was decided about them. */
export const definitionOperations: readonly Operation[] = [
  listDefinitions,
  diffDefinitions,
  approveDefinitions,
  blockDefinitions,
];
