import { rpcCodes, parseErrorObject } from "../../wire/mcp/error-object.ts";
import type { View, ViewServer } from "../../catalog/model/view.ts";
import { renderShared } from "../../catalog/exposure/meta/meta.ts";
import { withLossTold } from "../../catalog/exposure/meta/restart-notice.ts";
import { resolveBare, resolveTool } from "../../catalog/exposure/text/tool-lookup.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import { openBrace } from "../../wire/json/characters.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { ServerAnswer } from "../../engine/calls/server-call.ts";
import { areNone, noArguments, type CallArguments, type CallContext } from "../../kernel/call/call-context.ts";
import type { FailureCode } from "../../kernel/failures/failures.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { scanMembers } from "../../wire/json/json-scan.ts";
import { readJsonBody } from "../json-body.ts";
import { nearestNames } from "../../catalog/exposure/text/suggestions.ts";

type CallIntent = Extract<Intent, { kind: "call" }>;

/** The member of a body that says which app a bare name belongs to; also `X-App-Context`. */
export const contextField = "_app_context";

const form = Object.freeze({ form: Object.freeze({}) });
const url = Object.freeze({ url: Object.freeze({}) });
/** What clients can be asked, by the modes that they name. */
const askedFor: ReadonlyMap<string, CallContext["client"]["capabilities"]> = new Map(
  Object.entries({ form, url, "form url": { ...form, ...url } }).map(([modes, elicitation]) => [
    modes,
    Object.freeze({ elicitation: Object.freeze(elicitation) }),
  ]),
);

/** What the client of a request with this `Toolyard-Elicitation` can be asked; undefined where it names no mode. */
export function askedBy(
  header: string | readonly string[] | undefined,
): CallContext["client"]["capabilities"] | undefined {
  if (header === undefined) return undefined;
  const named = String(header)
    .split(",")
    .map((mode) => mode.trim().toLowerCase());
  return askedFor.get(["form", "url"].filter((mode) => named.includes(mode)).join(" "));
}

/** What `POST /execute/{name}` says of the tool that it means. */
export interface NamedTool {
  readonly name: string;
  /** `X-App-Context`. */
  readonly appHeader: string | undefined;
}

/** A body as it came, and the object in it. */
export interface ExecutionBody {
  readonly bytes: Buffer;
  readonly value: JsonObject;
}

/** The body of an execution; undefined where it says nothing. Throws what {@link readJsonBody} throws. */
export async function readExecutionBody(bytes: Buffer, maxDepth: number): Promise<ExecutionBody | undefined> {
  return holdsNone(bytes) ? undefined : { bytes, value: await readJsonBody(bytes, maxDepth) };
}

/**
 * Which tool a request means, and its arguments, cut out of the body as bytes. Throws TOOL_UNKNOWN, TOOL_AMBIGUOUS,
 * SERVER_UNKNOWN and PARAMS_INVALID.
 */
export function readExecution(view: View, named: NamedTool, body: ExecutionBody | undefined): CallIntent {
  if (body === undefined) return resolveInContext(view, named, undefined);
  const field = Object.hasOwn(body.value, contextField) ? body.value[contextField] : undefined;
  const intent = resolveInContext(view, named, field);
  return {
    ...intent,
    arguments: ownsContextField(intent) || field === undefined ? body : withoutContext(body),
  };
}

/** Nothing, or what many languages write for it. Only a short body is looked at. */
function holdsNone(body: Buffer): boolean {
  if (body.length === 0) return true;
  if (body.length > 16 || body[0] === openBrace) return false;
  try {
    return areNone(JSON.parse(body.toString("utf8")));
  } catch {
    return false;
  }
}

/**
 * The app says which tool a bare name is; a name that means another tool in full is ambiguous then, never silently
 * one of them.
 */
function resolveInContext(view: View, { name, appHeader: header }: NamedTool, field: unknown): CallIntent {
  const found = view.names.find(name);
  const full = found.kind === "one" ? found.tool : undefined;
  // A tool may have an argument of that name: then it is the tool's, and only the header names an app.
  const isArgument = full !== undefined && hasContextProperty(full.definition.inputSchema);
  if (!isArgument && field !== undefined && typeof field !== "string")
    throw new GatewayError("PARAMS_INVALID", `${contextField} must be a string`, { data: { field: contextField } });
  if (!isArgument && header !== undefined && field !== undefined && header !== field)
    throw new GatewayError("PARAMS_INVALID", `X-App-Context and ${contextField} name different apps`, {
      data: { field: contextField },
    });
  const context = header ?? (isArgument ? undefined : (field as string | undefined));
  if (context === undefined) return resolveTool(view, name, noArguments);
  const app = findApp(view, context);
  const own = app.tools.find((tool) => tool.definition.name === name);
  if (own === undefined) return resolveTool(view, name, noArguments);
  if (full !== undefined && full !== own)
    throw new GatewayError(
      "TOOL_AMBIGUOUS",
      `${JSON.stringify(name.slice(0, 200))} is a tool of ${app.slug}, and in full the name of another`,
      { data: { tool_paths: [own.path, full.path] } },
    );
  return full === own ? resolveTool(view, name, noArguments) : resolveBare(view, name, own, noArguments);
}

function ownsContextField(intent: CallIntent): boolean {
  return hasContextProperty(intent.tool.definition.inputSchema);
}

function hasContextProperty(schema: { readonly [key: string]: unknown }): boolean {
  const { properties } = schema;
  return isJsonObject(properties) && Object.hasOwn(properties, contextField);
}

/** The same arguments without that member: every other byte stays. */
function withoutContext({ bytes: body, value }: ExecutionBody): CallArguments {
  // How deep it nests was judged before it was parsed.
  const members = scanMembers(body, 0, body.length, Infinity);
  const kept = members.filter((member) => member.key !== contextField);
  const pieces: Buffer[] = [];
  for (const member of kept)
    pieces.push(Buffer.from(pieces.length === 0 ? "{" : ","), body.subarray(member.keyStart, member.end));
  const bytes = kept.length === 0 ? Buffer.from("{}") : Buffer.concat([...pieces, Buffer.from("}")]);
  const { [contextField]: _taken, ...rest } = value;
  return { bytes, value: rest };
}

/**
 * The answer `{ success, tool_path, result | error, warning?, migrated? }` with the server's bytes in it, as latin1
 * text.
 */
export function toExecuteAnswer(view: View, intent: CallIntent, outcome: ServerAnswer): string {
  const { tool, warning, bareName, migrated } = intent;
  const isFailed = outcome.kind === "error" || outcome.result.isError;
  const head = `{"success":${!isFailed},"tool_path":${asciiJson(tool.path)},${outcome.kind === "error" ? '"error"' : '"result"'}:`;
  // What MCP says in `_meta` has members of its own here: the result stays the server's.
  const plain: CallIntent = {
    kind: "call",
    instance: intent.instance,
    tool,
    arguments: intent.arguments,
    warning: undefined,
  };
  const shown = outcome.kind === "error" ? outcome.error : toShown(view, plain, outcome);
  const body = shown.toString("latin1");
  if (warning === undefined && migrated !== true) return `${head}${body}}`;
  const notes = {
    ...(warning === undefined ? {} : { warning }),
    ...(migrated === true ? { migrated: { from: bareName, to: tool.path } } : {}),
  };
  return `${head}${body},${asciiJson(notes).slice(1)}`;
}

/**
 * A server's result as a program may read it: links that can be read here, and the word that the server has lost its
 * state.
 */
export function toShown(view: View, intent: Intent, answer: Extract<ServerAnswer, { kind: "result" }>): JsonBytes {
  const shown = renderShared(view, intent, answer.result);
  return withLossTold(shown, { reason: answer.loss, intent, forModel: false }).bytes;
}

/** A server's JSON-RPC error where there is no place for it: as the failure that comes nearest. */
export function relayedFailure(error: JsonBytes, notFound: FailureCode): GatewayError {
  const { code, message } = parseErrorObject(error);
  return new GatewayError(
    code === rpcCodes.resourceNotFound
      ? notFound
      : code === rpcCodes.invalidParams
        ? "PARAMS_INVALID"
        : "UPSTREAM_PROTOCOL",
    `the server answered: ${message.slice(0, 500)}`,
    { data: { server_code: code } },
  );
}

/**
 * Finds a server by any of its names: slug, namespace, display name. Throws SERVER_UNKNOWN with the closest names,
 * and TOOL_AMBIGUOUS with the namespaces when several servers have this display name.
 */
export function findApp(view: View, name: string, namespace?: string): ViewServer {
  const exact = view.server(name) ?? view.servers.find((server) => server.namespace === name);
  const named =
    exact === undefined
      ? view.servers.filter((server) => server.title === name || server.title.toLowerCase() === name.toLowerCase())
      : [exact];
  const found = namespace === undefined ? named : named.filter((server) => server.namespace === namespace);
  const [first] = found;
  if (first === undefined) {
    const known = view.servers.flatMap((server) => [server.slug as string, server.namespace]);
    throw new GatewayError(
      "SERVER_UNKNOWN",
      namespace === undefined || named.length === 0
        ? `there is no app ${quote(name)}`
        : `the app ${quote(name)} has no namespace ${quote(namespace)}`,
      {
        data: { closest: [...new Set(nearestNames(name, known, closestShown))] },
        hint: "GET /list/apps lists the apps.",
      },
    );
  }
  if (found.length > 1) {
    throw new GatewayError("TOOL_AMBIGUOUS", `${quote(name)} is the name of ${found.length} apps`, {
      data: { namespaces: found.map((server) => server.namespace) },
      hint: "Add ?namespace= with one of the listed ones.",
    });
  }
  return first;
}

const closestShown = 6;

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
