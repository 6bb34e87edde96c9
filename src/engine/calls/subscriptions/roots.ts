import { deepestJson } from "../../../kernel/limits.ts";
import { openBrace } from "../../../wire/json/characters.ts";
import type { ServerConfig } from "../../../config/config.ts";
import { rootsResult } from "../../../servers/instance/lists/roots-source.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { scanMembers } from "../../../wire/json/json-scan.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ParamMember } from "../../../servers/upstream/connection.ts";

/**
 * The context of a call as its server may see it. With each request, a server of 2026-07-28 is told what the client
 * declares. Roots are included only for a server that has an instance per client, because it may keep the answer and
 * use it for everybody else. Roots from the configuration take their place.
 */
export function withRootsOf(server: ServerConfig, context: CallContext): CallContext {
  const { client } = context;
  const declares = client.capabilities["roots"] !== undefined;
  if (server.scope === "client" && (declares || server.roots === undefined)) return context;
  if (!declares && server.roots === undefined) return context;
  const { roots: _theirs, ...others } = client.capabilities;
  if (server.roots === undefined) return { ...context, client: { ...client, capabilities: others } };
  const capabilities = { ...others, roots: {} };
  return { ...context, client: { ...client, capabilities }, ownRoots: rootsResult(server.roots) };
}

/**
 * The client's answers, without roots that its server must not get: a client may send unsolicited answers. An answer
 * that contains roots is one about roots, because answers to other questions contain an action or a model's message.
 */
export function answersOf({ inputResponses: bytes, client, ownRoots }: CallContext): JsonBytes | undefined {
  if (bytes === undefined || bytes[0] !== openBrace) return bytes;
  if (client.capabilities["roots"] !== undefined && ownRoots === undefined) return bytes;
  const members = scanMembers(bytes, 0, bytes.length, deepestJson);
  const kept = members.filter(({ start, end }) => {
    const value: unknown = JSON.parse(bytes.toString("utf8", start, end));
    return !(isJsonObject(value) && "roots" in value);
  });
  if (kept.length === members.length) return bytes;
  const texts = kept.map(({ keyStart, end }) => bytes.toString("latin1", keyStart, end));
  return Buffer.from(`{${texts.join(",")}}`, "latin1");
}

/**
 * Marks a state of the gateway that contains the server's own, if it has one. The client is asked everything except for
 * its roots, and returns without them. The server's state is sealed as well, so that a state with this mark that did
 * not come from the gateway could only come from that server, whose roots they are.
 */
const wrapped = "toolyard-roots:";

/** Wraps a server's state together with the keys of the questions about roots, which the client is not asked. */
export function wrapState(keys: readonly string[], state: string | undefined): string {
  return wrapped + JSON.stringify({ keys, ...(state === undefined ? {} : { state }) });
}

/** The members to send to the server for a state that the client brought back, with the client's answers. */
export function unwrapState(
  state: string,
  responses: JsonBytes | undefined,
  roots: JsonBytes | undefined,
): readonly ParamMember[] {
  const inside = readWrapped(state);
  const keys: readonly unknown[] = inside !== undefined && Array.isArray(inside["keys"]) ? inside["keys"] : [];
  if (inside === undefined || (keys.length > 0 && roots === undefined)) {
    const own: ParamMember = ["requestState", asciiJson(state)];
    return responses === undefined ? [own] : [["inputResponses", responses], own];
  }
  const given = responses?.toString("latin1").trim().replace(/^\{/, "").replace(/\}$/, "").trim() ?? "";
  const members = keys.map((key) => `${asciiJson(key)}:${roots?.toString("latin1") ?? "null"}`);
  const all = given === "" ? members : [given, ...members];
  const answers: ParamMember = ["inputResponses", Buffer.from(`{${all.join(",")}}`, "latin1")];
  return typeof inside["state"] === "string" ? [answers, ["requestState", asciiJson(inside["state"])]] : [answers];
}

function readWrapped(state: string): JsonObject | undefined {
  if (!state.startsWith(wrapped)) return undefined;
  try {
    const inside: unknown = JSON.parse(state.slice(wrapped.length));
    return isJsonObject(inside) && Array.isArray(inside["keys"]) ? inside : undefined;
  } catch {
    return undefined;
  }
}
