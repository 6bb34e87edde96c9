import type { Intent, ServerIntent } from "../../../catalog/exposure/intent.ts";
import { slugOf } from "../../../catalog/exposure/intent.ts";
import type { ServerConfig } from "../../../config/config.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { allSteps, type Slices } from "../../../kernel/runtime/slices.ts";
import { toJsonBytes, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { KnownSecrets } from "../../../records/redaction/known-secrets.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import type { JudgeSecret } from "../../flows/secret-owners.ts";
import { searchingSecrets, windowBytes, type FoundSecrets, type SecretSearch } from "../../flows/secret-search.ts";
import { passedParams } from "../run.ts";
import type { PassingChecks } from "../stages.ts";
import type { Outcome, Work } from "../work.ts";
import { instanceOf, pathOf } from "./request-facts.ts";

export interface SecretChecksDeps {
  readonly known: () => KnownSecrets;
  readonly judge: JudgeSecret;
  /** Whether texts count that look like a well-known key. */
  readonly hasShapes: boolean;
  readonly serverOf: (id: InstanceId) => ServerConfig | undefined;
  readonly slices: Slices;
}

/** A message on the way is not looked through in slices: one that takes longer than a turn may is left out. */
const longestMessage = 1_048_576;

/**
 * Stops secrets on their way. What goes to a server (arguments, URIs, and whatever else is passed on) is refused with
 * SECRET_LEAVES where it holds a secret that is not the server's; one that only looks like a key makes a call ask. In
 * what comes back (results, errors, progress, log messages, questions) a mark takes the secret's place, and the record
 * says so. Answers to a server's questions are not looked at: a person gives them to this server.
 */
export function createSecretChecks(deps: SecretChecksDeps): Omit<PassingChecks, "opening"> {
  const { known, judge, hasShapes, serverOf, slices } = deps;

  function searchFor(intent: ServerIntent, { principal }: CallContext): SecretSearch | undefined {
    const server = serverOf(instanceOf(intent));
    if (server === undefined) return undefined;
    return { known: known(), hasShapes, judge: (value) => judge(value, server, principal.team) };
  }

  function find<T>(bytes: JsonBytes, search: SecretSearch, then: (found: FoundSecrets) => T): T | Promise<T> {
    const work = searchingSecrets(bytes, search);
    return bytes.length <= windowBytes ? then(allSteps(work)) : slices.run(work).then(then);
  }

  /** The message without secrets of others; undefined for one that is too long. */
  function cleanMessage(bytes: JsonBytes, search: SecretSearch, context: CallContext): JsonBytes | undefined {
    if (bytes.length > longestMessage) {
      note(context, "a message of more than 1 MB was left out");
      return undefined;
    }
    const found = allSteps(searchingSecrets(bytes, search));
    noteFound(context, "a message", found);
    return found.clean;
  }

  function gate(intent: Intent, work: Work): Promise<void> | undefined {
    const search = isOfServer(intent) ? searchFor(intent, work.context) : undefined;
    if (!isOfServer(intent) || search === undefined) return undefined;
    const judgeSent = ({ names, hasShape }: FoundSecrets): void => {
      if (names.length > 0) throw leaves(intent, work, names);
      if (hasShape) addDoubt(work.context);
    };
    let waiting: Promise<void> | undefined;
    for (const bytes of sentIn(intent, work)) {
      if (waiting !== undefined) waiting = waiting.then(() => find(bytes, search, judgeSent));
      else waiting = asPromise(find(bytes, search, judgeSent));
    }
    return waiting;
  }

  return {
    gates: [gate],
    within(intent, work) {
      const search = isOfServer(intent) ? searchFor(intent, work.context) : undefined;
      if (search === undefined) return work;
      const context = { ...work.context };
      return { ...work, context: Object.assign(context, cleanWays(context, search, cleanMessage)) };
    },
    after(intent, work, outcome) {
      const search = isOfServer(intent) ? searchFor(intent, work.context) : undefined;
      if (search === undefined || (outcome.kind !== "result" && outcome.kind !== "error")) return outcome;
      const bytes = outcome.kind === "result" ? outcome.result.bytes : outcome.error;
      return find(bytes, search, (found) => {
        noteFound(work.context, "the result", found);
        return found.clean === bytes ? outcome : withBytes(outcome, found.clean);
      });
    },
  };
}

function asPromise(settled: void | Promise<void>): Promise<void> | undefined {
  return settled instanceof Promise ? settled : undefined;
}

function isOfServer(intent: Intent): intent is ServerIntent {
  return ["call", "read", "prompt", "complete", "forward"].includes(intent.kind);
}

/** Everything of the client's request that reaches the server, except answers to its questions. */
function* sentIn(intent: ServerIntent, { context, request }: Work): Generator<JsonBytes> {
  if (intent.kind === "read") yield toJsonBytes(intent.uri);
  else if (intent.kind === "call") yield* optional(intent.arguments.bytes);
  else if (intent.kind === "prompt") yield* optional(intent.arguments);
  else if (request !== undefined) for (const [, value] of passedParams(request)) yield Buffer.from(value);
  for (const [, value] of context.extraParams ?? []) yield value;
  if (context.meta !== undefined) yield toJsonBytes(context.meta);
  if (context.paramHeaders !== undefined) yield toJsonBytes(context.paramHeaders);
}

function* optional(bytes: JsonBytes | undefined): Generator<JsonBytes> {
  if (bytes !== undefined) yield bytes;
}

function leaves(intent: ServerIntent, work: Work, names: readonly string[]): GatewayError {
  return new GatewayError(
    "SECRET_LEAVES",
    `${pathOf(intent, work)} was not called: what it was given holds ${names.join(", ")}, ` +
      `which does not belong to ${slugOf(intent)}`,
  );
}

function addDoubt(context: CallContext): void {
  const doubt = { kind: "key", because: "its arguments hold what looks like a key" };
  if (context.doubts?.some(({ kind }) => kind === doubt.kind) !== true)
    context.doubts = [...(context.doubts ?? []), doubt];
}

function noteFound(context: CallContext, where: string, { names, hasShape }: FoundSecrets): void {
  if (names.length > 0) note(context, `a secret was taken out of ${where}: ${names.join(", ")}`);
  if (hasShape) note(context, `${where} holds what looks like a key`);
}

const mostRemarks = 5;

function note(context: CallContext, remark: string): void {
  const before = context.remarks ?? [];
  if (before.length < mostRemarks && !before.includes(remark)) context.remarks = [...before, remark];
}

type CleanMessage = (bytes: JsonBytes, search: SecretSearch, context: CallContext) => JsonBytes | undefined;
type Ways = Pick<CallContext, "onProgress" | "onLog" | "ask" | "replies">;

/** The ways to the client during the call, each with the look at what takes it. */
function cleanWays(context: CallContext, search: SecretSearch, clean: CleanMessage): Ways {
  const { onProgress, onLog, ask, replies } = context;
  const cleanly = (pass: ((params: JsonObject) => void) | undefined) =>
    pass &&
    ((params: JsonObject): void => {
      const bytes = toJsonBytes(params);
      const cleaned = clean(bytes, search, context);
      if (cleaned !== undefined)
        pass(cleaned === bytes ? params : (JSON.parse(cleaned.toString("utf8")) as JsonObject));
    });
  return {
    onProgress: cleanly(onProgress),
    onLog: cleanly(onLog),
    ask:
      ask &&
      (async (question, signal) => {
        const params = clean(question.params, search, context);
        if (params === undefined)
          throw new GatewayError("RESULT_TOO_LARGE", "a question of more than 1 MB is not passed on");
        return await ask({ ...question, params, onProgress: question.onProgress }, signal);
      }),
    replies: replies && {
      send(message) {
        const cleaned = clean(Buffer.from(message, "latin1"), search, context);
        return cleaned === undefined || replies.send(cleaned.toString("latin1"));
      },
      isHere: () => replies.isHere?.() ?? true,
      ...(replies.breakOff === undefined ? {} : { breakOff: (ms: number) => replies.breakOff?.(ms) }),
    },
  };
}

function withBytes(outcome: Extract<Outcome, { kind: "result" | "error" }>, clean: JsonBytes): Outcome {
  if (outcome.kind === "error") return { ...outcome, error: clean };
  const { known } = outcome.result;
  // What was known of it must be known of the other bytes as well: that it asks something, or began a task.
  const result =
    known === undefined
      ? outcome.result.with(clean)
      : new ResultBytes(clean, JSON.parse(clean.toString("utf8")) as JsonObject, undefined, outcome.result.verdict);
  return { ...outcome, result };
}
