import { randomBytes } from "node:crypto";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { canAnswer, capabilityMissing } from "../../../engine/calls/questions/questions.ts";
import { parseJsonObject, type JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { deepestJson } from "../../../kernel/limits.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { openBrace } from "../../../wire/json/characters.ts";
import { scanMembers } from "../../../wire/json/json-scan.ts";
import {
  createConversation,
  type AskedQuestions,
  type Conversation,
  type RunConversation,
  type Turn,
  type Ways,
} from "./conversation.ts";

/**
 * The conversations that wait for their client to come back with answers: each is parked behind a handle, which the
 * client was given as `requestState` (2026-07-28, patterns/mrtr).
 */
export interface ParkedConversations {
  begin(binding: Binding, ways: Ways, run: RunConversation): Conversation;
  /** Whether a requestState is one of these handles, and not a server's own state. */
  isHandle(requestState: unknown): requestState is string;
  /**
   * The conversation that waits for these answers. Throws HANDLE_INVALID when it is another's, has expired or was
   * answered before.
   *
   * @param coming who comes back with them, or whether it is who was asked
   */
  resume(
    handle: string,
    coming: Binding | ((asked: Binding) => boolean),
    inputResponses: JsonBytes | undefined,
  ): Conversation;
  /** The node at which the conversation of a handle is parked; undefined where the handle names none. */
  nodeOf(handle: string): string | undefined;
  /** Refuses a handle as one that is not known, whatever is wrong with it. */
  refuse(): never;
  /** Ends those that are parked, and parks none from now on: no client can come back to a gateway that stops. */
  end(why: () => GatewayError): void;
  /** Ends those of all principals for which the predicate is true. */
  endWhere(gone: (principal: Principal) => boolean, why: () => GatewayError): void;
  readonly parked: number;
}

/**
 * A handle is good only for who got it, with the credential that it was got with, on the same request. It is an
 * address, not an authentication.
 */
export interface Binding {
  readonly principal: Principal;
  readonly request: string;
}

const handlePrefix = "typ1.";
/** Of a node of a cluster, which is named behind it. */
const nodePrefix = "typ2.";
const nodeHandle = /^typ2\.([A-Za-z0-9._-]{1,64})\.[\w-]{32}$/;

/** In the same words, whatever is wrong with a handle. */
function unknownHandle(): GatewayError {
  return new GatewayError(
    "HANDLE_INVALID",
    "the requestState is not accepted: it has expired, was answered before, or belongs to another caller or request",
  );
}

interface Parked {
  readonly binding: Binding;
  readonly asked: AskedQuestions;
  readonly conversation: Conversation;
  readonly cancelTimer: () => void;
}

export function createParkedConversations(options: {
  readonly parkedMs: number;
  readonly mostParked: number;
  readonly clock: Clock;
  /** This node of a cluster; undefined where the gateway is alone. */
  readonly node?: () => string | undefined;
}): ParkedConversations {
  const parkedByHandle = new Map<string, Parked>();
  let ended: (() => GatewayError) | undefined;

  /** Why nothing can be parked now; undefined when it can. */
  function refusal(): GatewayError | undefined {
    if (ended !== undefined) return ended();
    if (parkedByHandle.size < options.mostParked) return undefined;
    return new GatewayError("CLIENT_CANNOT_ANSWER", `${parkedByHandle.size} calls wait for answers already`);
  }

  function park(binding: Binding, conversation: Conversation, asked: AskedQuestions): Turn | undefined {
    const missing = missingFor(conversation, asked);
    if (missing !== undefined) {
      conversation.cancel(missing);
      asked.reject(missing);
      return { kind: "refused", error: missing };
    }
    const refused = refusal();
    if (refused !== undefined) {
      asked.reject(refused);
      return undefined;
    }
    const node = options.node?.();
    const prefix = node === undefined ? handlePrefix : `${nodePrefix}${node}.`;
    const handle = `${prefix}${randomBytes(24).toString("base64url")}`;
    const cancelTimer = options.clock.after(options.parkedMs, () => {
      parkedByHandle.delete(handle);
      conversation.cancel(
        new GatewayError("QUESTION_TIMEOUT", `no one answered within ${options.parkedMs / 1_000} s`, {
          hint: `Call again and answer in time, or raise ${settingNow("limits.parkedMs", options.parkedMs)}.`,
        }),
      );
    });
    parkedByHandle.set(handle, { binding, asked, conversation, cancelTimer });
    return { kind: "questions", handle, inputRequests: writeRequests(asked) };
  }

  function endWhere(gone: (principal: Principal) => boolean, why: () => GatewayError): void {
    for (const [handle, { binding, cancelTimer, conversation }] of parkedByHandle) {
      if (!gone(binding.principal)) continue;
      parkedByHandle.delete(handle);
      cancelTimer();
      conversation.cancel(why());
    }
  }

  return {
    begin: (binding, ways, run) =>
      createConversation(ways, run, (conversation, asked) => park(binding, conversation, asked)),
    isHandle: (state): state is string =>
      typeof state === "string" && (state.startsWith(handlePrefix) || state.startsWith(nodePrefix)),
    nodeOf: (handle) => nodeHandle.exec(handle)?.[1],
    refuse() {
      throw unknownHandle();
    },
    resume(handle, coming, inputResponses) {
      const parked = parkedByHandle.get(handle);
      const isAsked = typeof coming === "function" ? coming : (asked: Binding) => isSame(asked, coming);
      if (parked === undefined || !isAsked(parked.binding)) throw unknownHandle();
      const answers = readAnswers(inputResponses);
      parkedByHandle.delete(handle);
      parked.cancelTimer();
      parked.asked.answer(answers);
      return parked.conversation;
    },
    end(why) {
      ended = why;
      endWhere(() => true, why);
    },
    endWhere,
    get parked() {
      return parkedByHandle.size;
    },
  };
}

/** What the request that waits did not declare, of all that is needed to answer; undefined when nothing is missing. */
function missingFor({ ways }: Conversation, { byKey }: AskedQuestions): GatewayError | undefined {
  const unanswerable = [...byKey.values()]
    .map(({ method, params }) => ({ method, params: parseJsonObject(params) ?? {} }))
    .filter(({ method, params }) => !canAnswer(ways.client.capabilities, method, params));
  const [first] = unanswerable;
  return first === undefined ? undefined : capabilityMissing(`the server asks with ${first.method}`, unanswerable);
}

function isSame(one: Binding, other: Binding): boolean {
  return one.principal === other.principal && one.request === other.request;
}

function writeRequests({ byKey }: AskedQuestions): string {
  const requests = [...byKey].map(
    ([key, { method, params }]) => `${asciiJson(key)}:{"method":"${method}","params":${params.toString("latin1")}}`,
  );
  return `{${requests.join(",")}}`;
}

function readAnswers(bytes: JsonBytes | undefined): ReadonlyMap<string, JsonBytes> {
  if (bytes === undefined || bytes[0] !== openBrace) return new Map();
  const members = scanMembers(bytes, 0, bytes.length, deepestJson);
  return new Map(members.map(({ key, start, end }) => [key, bytes.subarray(start, end)]));
}
