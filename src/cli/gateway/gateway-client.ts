import { StringDecoder } from "node:string_decoder";
import { failures, type FailureCode } from "../../kernel/failures/failures.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { OperationTypes, TypesOf } from "../../operations/operation.ts";
import type { showStatus } from "../../operations/records/status-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { textOption } from "../../config/given.ts";
import { interrupted } from "../terminal/waiting-line.ts";
import { plainText, shorten } from "../../kernel/text/plain-text.ts";
import { isGatewayAddress } from "./gateway-login.ts";
import type { DoorOf } from "./owner-client.ts";
import { ownersWay, readAll, type RestAnswer, type RestRequest, type RestWay } from "./rest-way.ts";
import { findGateway, findGateways } from "./running-gateways.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";

/** What an operation takes. */
type Given<T extends OperationTypes> = Part<"params", T["params"]> & Part<"query", T["query"], true> & Body<T["body"]>;
type Part<Name extends string, Value, IsOptional = false> = string extends keyof Value
  ? { readonly [name in Name]?: undefined }
  : IsOptional extends true
    ? { readonly [name in Name]?: Value }
    : { readonly [name in Name]: Value };
type Body<Value> = unknown extends Value ? { readonly body?: JsonObject } : { readonly body: Value };

export type Order<O> = readonly [route: TypesOf<O>["route"], given: Given<TypesOf<O>>];

/**
 * A gateway, asked over REST: one on this machine as the owner of its data directory, or one elsewhere as the person
 * who is logged in there.
 */
export interface GatewayClient {
  readonly base: string;
  /** Whether `lines` come while they are written. */
  readonly isStreaming: boolean;
  /**
   * Carries out an operation: `ask<typeof addInvite>("POST /api/teams/{team}/invites", { params, body })`. Rejects with
   * the failure that the gateway answers, and with GATEWAY_UNREACHABLE.
   */
  ask<O>(...order: Order<O>): Promise<TypesOf<O>["answer"]>;
  /** The same as the text that was answered: JSON whose numbers may be larger than JavaScript's. */
  text<O>(...order: Order<O>): Promise<string>;
  /**
   * The lines of an answer of another type than JSON, as they come, until the signal aborts. Rejects as `ask` does, and
   * with GATEWAY_UNREACHABLE for an answer that is cut off.
   */
  lines(request: LinesRequest): AsyncGenerator<string, void>;
}

export interface LinesRequest {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** The type of the answer. */
  readonly accept: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON text. */
  readonly body?: string;
  /** For an answer that has no end of its own: a gateway that ends cuts it off, and that is none of its failures. */
  readonly isEndless?: boolean;
  readonly signal?: AbortSignal;
}

/** The gateway that `--gateway URL` names, otherwise the running one on this machine that the command means. */
export async function openGatewayClient(context: CommandContext): Promise<GatewayClient> {
  return (await openElsewhere(context)) ?? ownersClient(await findGateway(withoutTeam(context)));
}

/** The same for commands that are about all gateways that run, with the process of each on this machine. */
export async function openGatewayClients(context: CommandContext): Promise<readonly FoundGateway[]> {
  const gateway = await openElsewhere(context);
  if (gateway !== undefined) return [{ gateway, holder: undefined }];
  const holders = await findGateways(withoutTeam(context));
  return holders.map((holder) => ({ gateway: ownersClient(holder), holder }));
}

export interface FoundGateway {
  readonly gateway: GatewayClient;
  /** Undefined for one elsewhere. */
  readonly holder: GatewayHolder | undefined;
}

/** How a gateway is named above what it says. */
export function gatewayText({ base }: GatewayClient, holder: GatewayHolder | undefined): string {
  return holder === undefined ? `gateway ${base}` : `gateway ${holder.url ?? ""} (process ${holder.pid})`;
}

/** A gateway on this machine, as the owner of its data directory. */
export function ownersClient(holder: DoorOf): GatewayClient {
  return createGatewayClient(ownersWay(holder));
}

/** `--team` of a command is a name, and that of `serve` a setting. */
function withoutTeam(context: CommandContext): CommandContext {
  return { ...context, flags: { ...context.flags, team: undefined } };
}

async function openElsewhere(context: CommandContext): Promise<GatewayClient | undefined> {
  const address = textOption(context, "gateway");
  if (address === undefined) return undefined;
  if (!isGatewayAddress(address))
    throw new GatewayError("CONFIG_INVALID", "--gateway: expected the address of a gateway", {
      hint: "Give a URL such as https://tools.example.com.",
    });
  const { openWay } = await import("./gateway-login.ts");
  return createGatewayClient(await openWay(context, address, interrupted("")));
}

/** Speaks REST by the given way. */
export function createGatewayClient(way: RestWay): GatewayClient {
  return {
    base: way.base,
    isStreaming: way.isStreaming,
    async ask(route, given) {
      const answer = await way.send(toRequest(route, given));
      return readAnswer(way.base, answer, way.isStreaming ? undefined : harmless) as never;
    },
    async text(route, given) {
      const answer = await way.send(toRequest(route, given));
      readAnswer(way.base, answer);
      return answer.text;
    },
    async *lines({ method = "GET", path, query = {}, accept, headers, body, isEndless = false, signal = never }) {
      const request = toRequest(`${method} ${path}`, { query });
      const given = {
        ...request,
        headers: { ...request.headers, ...headers, accept },
        ...(body === undefined ? {} : { body }),
      };
      const answer = await way.open(given, signal);
      if (answer.status !== 200) readAnswer(way.base, { status: answer.status, text: await readAll(answer.chunks) });
      yield* linesOf(answer.chunks, () => {
        if (!isEndless && !signal.aborted) throw cutOff(way.base);
      });
    },
  };
}

const never = new AbortController().signal;

function cutOff(base: string): GatewayError {
  return new GatewayError("GATEWAY_UNREACHABLE", `the gateway at ${base} ended in the middle of its answer`);
}

/** Calls back where the answer is cut off, whose last line may lack its end then: it is left out. */
async function* linesOf(chunks: AsyncIterable<Buffer>, onCut: () => void): AsyncGenerator<string, void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    onCut();
    return;
  }
  if (rest !== "") yield rest;
}

interface LooselyGiven {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

function toRequest(route: string, { params = {}, query = {}, body }: LooselyGiven): RestRequest {
  const [method, template] = route.split(" ") as [RestRequest["method"], string];
  const path = template.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String((params as JsonObject)[name])),
  );
  const asked = Object.entries(query as JsonObject).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(
    Object.fromEntries(asked.map(([name, value]) => [name, String(value)])),
  ).toString();
  const type = method === "GET" ? {} : { "content-type": "application/json" };
  return {
    ...{ method, path: search === "" ? path : `${path}?${search}` },
    headers: { accept: "application/json", ...type },
    ...(method === "GET" ? {} : { body: JSON.stringify(body ?? {}) }),
  };
}

/** Characters of what a gateway elsewhere says. */
const mostSaid = 2_000;

function readAnswer(base: string, { status, text }: RestAnswer, clean?: typeof harmless): JsonObject {
  const value = parse(text, clean);
  if (status >= 200 && status < 300 && value !== undefined) return value;
  if (!Object.hasOwn(failures, said(value?.["code"]))) throw noGateway(base, status);
  throw toFailure(value ?? {});
}

/** The failure of a problem document. It may come from another machine, and is printed on a terminal. */
export function toFailure(problem: JsonObject): GatewayError {
  const { type: _type, title: _title, status: _status, detail, code, hint, ...data } = problem;
  const known = typeof code === "string" && Object.hasOwn(failures, code) ? (code as FailureCode) : "INTERNAL";
  return new GatewayError(known, said(detail), {
    ...(hint === undefined ? {} : { hint: said(hint) }),
    data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, toPlain(value)])),
  });
}

function toPlain(value: unknown): unknown {
  return Array.isArray(value) ? value.map(toPlain) : typeof value === "string" ? said(value) : value;
}

function said(given: unknown): string {
  return typeof given === "string" ? plainText(shorten(given, mostSaid)) : "";
}

/** As a hotel's page for guests answers, or a program that took the place of one. */
function noGateway(base: string, status: number): GatewayError {
  return new GatewayError("GATEWAY_UNREACHABLE", `what answers at ${base} with status ${status} is no gateway`, {
    hint: "Open it in a browser: something on the way may want to be agreed to first.",
  });
}

/** A text of a gateway elsewhere, for this terminal: its lines and tabs stay, and nothing else that moves a cursor. */
function harmless(_name: string, value: unknown): unknown {
  // oxlint-disable-next-line no-control-regex -- these are removed
  return typeof value === "string" ? value.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, " ") : value;
}

function parse(text: string, clean?: typeof harmless): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text, clean);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Throws REQUEST_INVALID for a gateway whose answers come only when they are whole: none of those ends. */
export function requireStreaming({ base, isStreaming }: GatewayClient): void {
  if (!isStreaming)
    throw new GatewayError("REQUEST_INVALID", `what happens at ${base} cannot be followed from here`, {
      hint: "Follow it on the gateway's machine, or in its dashboard.",
    });
}

/** As many as a page may have. */
export const mostRows = "1000";

export type GatewayStatus = TypesOf<typeof showStatus>["answer"];
export type ServerStatus = GatewayStatus["servers"][number];

/** How a gateway is, and each of its servers. Rejects with GATEWAY_UNREACHABLE. */
export async function readStatus(gateway: GatewayClient): Promise<GatewayStatus> {
  return await gateway.ask<typeof showStatus>("GET /api/status", {});
}
