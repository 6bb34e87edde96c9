import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { SealedStates } from "../../../wire/mcp/sealed-state.ts";
import type { CallContext, Question } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ParamMember } from "../../../servers/upstream/connection.ts";
import { withoutNullsWithin } from "../../../wire/mcp/shapes/null-members.ts";
import { withoutOwnMeta } from "../../../wire/mcp/shapes/own-names.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import { wrapState } from "../subscriptions/roots.ts";
import type { ServerAnswer } from "../server-call.ts";
import { createUrlQuestions, type UrlQuestions } from "./url-questions.ts";

/** A server that keeps asking is stopped after this many rounds. */
const mostRounds = 20;

/** The capability that a client must have declared before it is asked this (2026-07-28, basic/patterns/mrtr). */
const capabilityOf: Readonly<Record<Question["method"], string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Whether a client with these capabilities can be asked this. */
export function canAnswer(capabilities: JsonObject, method: string, params: JsonObject): boolean {
  if (!Object.hasOwn(capabilityOf, method)) return false;
  const declared = capabilities[capabilityOf[method as Question["method"]]];
  if (!isJsonObject(declared)) return false;
  if (method !== "elicitation/create") return true;
  // `elicitation: {}`, from before modes existed, means form (2025-11-25, client/elicitation, capabilities). A mode
  // that is there but no object (`form: null`) is one that the client does not have.
  return params["mode"] === "url"
    ? isJsonObject(declared["url"])
    : isJsonObject(declared["form"]) || (declared["form"] === undefined && declared["url"] === undefined);
}

interface InputRequired {
  readonly inputRequests: JsonObject;
  readonly requestState: string | undefined;
}

/** The answer as a request for input. Undefined when it is something else. */
function toInputRequired(answer: ServerAnswer): InputRequired | undefined {
  if (answer.kind === "error" || !answer.result.isQuestion) return undefined;
  const parsed = answer.result.parsed();
  const asked = parsed["inputRequests"];
  return {
    inputRequests: isJsonObject(asked)
      ? Object.fromEntries(Object.entries(asked).map(([key, request]) => [key, cleaned(request)]))
      : {},
    requestState: typeof parsed["requestState"] === "string" ? parsed["requestState"] : undefined,
  };
}

/** A question without members that say nothing, and without names that are the gateway's own. */
function cleaned(request: unknown): unknown {
  const question = withoutNullsWithin(request);
  if (!isJsonObject(question) || !isJsonObject(question["params"])) return question;
  return { ...question, params: withoutOwnMeta(question["params"]) };
}

export interface QuestionRound {
  readonly server: string;
  readonly context: CallContext;
  readonly states: SealedStates;
  /** What a sealed state is bound to: the method and its target. */
  readonly binding: string;
  /** The gateway's own answer to `roots/list`. Undefined when the client is to answer it. */
  readonly roots?: JsonBytes | undefined;
  /** Whether the server may know the client's roots: one that several clients share may not (docs/roots.md). */
  readonly takesRoots: boolean;
}

/** One of a server's questions. */
interface Asked {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * Puts a modern server's `input_required` to the client. A modern client gets it unchanged, except that the state is
 * sealed. A legacy client gets real requests; its answers go back to the server with `resend`, until the call is
 * complete.
 */
export async function settleQuestions(
  first: ServerAnswer,
  round: QuestionRound,
  resend: (extra: readonly ParamMember[]) => Promise<ServerAnswer>,
): Promise<ServerAnswer> {
  const { context } = round;
  const urls = createUrlQuestions(context.replies);
  let last = first;
  for (let rounds = 0; ; rounds += 1) {
    const asked = toInputRequired(last);
    if (asked === undefined) {
      if (last.kind === "result" && !last.result.isError) urls.noteAsked({});
      return last;
    }
    if (rounds === mostRounds)
      throw new GatewayError("UPSTREAM_PROTOCOL", `${round.server} asked more than ${mostRounds} times for one call`);
    if (context.client.era === "modern" && !isOnlyRoots(asked, round)) return passOn(last, asked, round);
    urls.noteAsked(asked.inputRequests);
    const responses = await askAll(asked, round, urls);
    const extra: ParamMember[] = [["inputResponses", Buffer.from(asciiJsonOf(responses), "latin1")]];
    if (asked.requestState !== undefined)
      extra.push(["requestState", Buffer.from(asciiJson(asked.requestState), "latin1")]);
    last = await resend(extra);
  }
}

/** Whether the gateway can answer everything itself, so that the client need not be asked. */
function isOnlyRoots({ inputRequests }: InputRequired, { roots }: QuestionRound): boolean {
  const requests = Object.values(inputRequests);
  return roots !== undefined && requests.length > 0 && requests.every(isForRoots);
}

function isForRoots(request: unknown): boolean {
  return questionParts(request).method === "roots/list";
}

/**
 * A modern client gets the questions as the server wrote them, keys included, unless it cannot answer one of them.
 */
function passOn(answer: ServerAnswer, asked: InputRequired, round: QuestionRound): ServerAnswer {
  if (answer.kind === "error") return answer;
  const isOurs = (request: unknown): boolean => round.roots !== undefined && isForRoots(request);
  const requests = Object.entries(asked.inputRequests);
  const ours = requests.flatMap(([key, request]) => (isOurs(request) ? [key] : []));
  const theirs = requests.filter(([, request]) => !isOurs(request));
  const { capabilities } = round.context.client;
  const unanswerable = theirs
    .map(([key, request]): Asked => ({ key, ...questionParts(request) }))
    .filter(({ method, params }) => !canAnswer(capabilities, method, params));
  if (unanswerable.length > 0) throw notDeclared(round, unanswerable);
  // A call that a person said yes to is known by its state when it goes on: it must not be asked about again.
  const needsOwn = ours.length > 0 || (round.context.isApproved === true && asked.requestState === undefined);
  const state = needsOwn ? wrapState(ours, asked.requestState) : asked.requestState;
  const sealed =
    state === undefined
      ? undefined
      : round.states.seal(state, { principal: round.context.principal.id, request: round.binding });
  const inputRequests = Object.fromEntries(theirs.map(([key, request]) => [key, named(request, round)]));
  const result = {
    ...answer.result.parsed(),
    ...(Object.keys(inputRequests).length === 0 ? {} : { inputRequests }),
    ...(sealed === undefined ? {} : { requestState: sealed }),
  };
  return { kind: "result", result: new ResultBytes(Buffer.from(asciiJson(result), "latin1")) };
}

async function askAll(
  asked: InputRequired,
  round: QuestionRound,
  urls: UrlQuestions,
): Promise<ReadonlyMap<string, JsonBytes>> {
  const { ask, signal, client } = round.context;
  const responses = new Map<string, JsonBytes>();
  for (const [key, request] of Object.entries(asked.inputRequests)) {
    const { method, params } = questionParts(request);
    if (round.roots !== undefined && isForRoots(request)) {
      responses.set(key, round.roots);
      continue;
    }
    if (ask === undefined || !canAnswer(client.capabilities, method, params))
      throw cannotAnswer(round, { key, method, params });
    const asking = urls.identify(questionParts(named(request, round)).params);
    const answer = await ask(
      { method: method as Question["method"], params: Buffer.from(asciiJson(asking), "latin1"), key },
      signal,
    );
    if (answer.kind === "error") {
      const error = parseErrorObject(answer.error);
      throw new GatewayError(
        "CLIENT_CANNOT_ANSWER",
        `the client refused ${method} of ${round.server}: ${error.message.slice(0, 200)} (${error.code})`,
      );
    }
    urls.noteAnswer(asking, answer.result);
    responses.set(key, answer.result);
  }
  return responses;
}

function named(request: unknown, round: QuestionRound): unknown {
  return round.context.transparent === true ? request : withServerNamed(request, round.server);
}

/** Adds the server's name to elicitations, because a person must know who will receive the answer. */
export function withServerNamed(request: unknown, server: string): unknown {
  if (!isJsonObject(request) || request["method"] !== "elicitation/create" || !isJsonObject(request["params"]))
    return request;
  const message = request["params"]["message"];
  return typeof message === "string"
    ? { ...request, params: { ...request["params"], message: `[${server}] ${message}` } }
    : request;
}

function questionParts(request: unknown): { method: string; params: JsonObject } {
  if (!isJsonObject(request)) return { method: "", params: {} };
  return {
    method: typeof request["method"] === "string" ? request["method"] : "",
    params: isJsonObject(request["params"]) ? request["params"] : {},
  };
}

function cannotAnswer({ server }: QuestionRound, asked: Asked): GatewayError {
  return new GatewayError(
    "CLIENT_CANNOT_ANSWER",
    `${asksFor(server, asked)}, but this client has not declared that it can answer that, ` +
      "or its answer may not go to this server",
  );
}

function asksFor(server: string, { key, method }: Asked): string {
  return `${server} asks with ${method || "an unknown request"} (${key.slice(0, 60)})`;
}

/**
 * The failure of a modern client's request that does not declare the capabilities that the server's questions need.
 * Where no declaration would help, because no client can answer that or the answer may not go to this server, it is not
 * told to declare more.
 */
function notDeclared(round: QuestionRound, unanswerable: readonly Asked[]): GatewayError {
  const hopeless = unanswerable.find(
    ({ method }) => !Object.hasOwn(capabilityOf, method) || (method === "roots/list" && !round.takesRoots),
  );
  if (hopeless !== undefined) return cannotAnswer(round, hopeless);
  return capabilityMissing(asksFor(round.server, unanswerable[0] as Asked), unanswerable);
}

/**
 * The failure of a modern client's request that does not declare the capabilities that these questions need, be it the
 * call or one that brings answers (2026-07-28, basic/index: each request is self-contained). `asks` says who asks what.
 */
export function capabilityMissing(asks: string, unanswerable: readonly Omit<Asked, "key">[]): GatewayError {
  const requiredCapabilities: Record<string, Record<string, object>> = {};
  for (const { method, params } of unanswerable) {
    const required = (requiredCapabilities[capabilityOf[method as Question["method"]]] ??= {});
    if (method === "elicitation/create") required[params["mode"] === "url" ? "url" : "form"] = {};
  }
  return new GatewayError("CAPABILITY_MISSING", `${asks}, but this request has not declared that it can answer that`, {
    data: { requiredCapabilities },
  });
}

function asciiJsonOf(responses: ReadonlyMap<string, JsonBytes>): string {
  return `{${[...responses].map(([key, value]) => `${asciiJson(key)}:${value.toString("latin1")}`).join(",")}}`;
}
