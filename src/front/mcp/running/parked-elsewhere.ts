import { createHash } from "node:crypto";
import type { AskedHeld, Elsewhere } from "../../../cluster/peers/held-things.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonBytes, JsonObject } from "../../../kernel/text/json-bytes.ts";
import { credentialText } from "../../../kernel/principal.ts";
import { joinText } from "../answers/result-text.ts";
import type { ReplyBody } from "../caller.ts";
import type { Conversation, Ways } from "./conversation.ts";
import type { Binding, ParkedConversations } from "./parked-conversations.ts";

/** A client that comes back with answers, to whatever node. */
export interface ComingBack {
  readonly binding: Binding;
  readonly answers: JsonBytes | undefined;
  /** How its request hears what the call says until its next answer. */
  readonly ways: Ways;
  readonly signal: AbortSignal;
}

/** Conversations that are parked at other nodes. A call stays at the node where it began, which alone records it. */
export interface ParkedElsewhere {
  /**
   * Takes the answers to the node that the handle names, and resolves to the call's next turn; undefined for a handle
   * of this node. Rejects with HANDLE_INVALID, with NODE_SILENT where the answers did not arrive, and with
   * OUTCOME_UNKNOWN where the node has ended, before or after they arrived.
   */
  resume(handle: string, coming: ComingBack): Promise<ReplyBody> | undefined;
}

export interface ParkedElsewhereDeps {
  readonly elsewhere: Elsewhere;
  readonly conversations: ParkedConversations;
  /** What a conversation's client is told next. */
  readonly nextTurn: (conversation: Conversation, signal: AbortSignal) => Promise<ReplyBody>;
}

/** Who comes back, as another node can say it. */
interface SaidBinding {
  readonly principal: string;
  readonly credential: string;
  readonly request: string;
}

type Said =
  | { readonly as: "progress"; readonly params: JsonObject }
  | { readonly as: "log"; readonly params: JsonObject }
  | { readonly as: "message" }
  | { readonly as: "stage"; readonly server?: string | undefined; readonly isStarting: boolean };

/** Answers other nodes from now on. */
export function createParkedElsewhere(deps: ParkedElsewhereDeps): ParkedElsewhere {
  const { elsewhere, conversations } = deps;

  elsewhere.answer("parked", async (asked) => {
    const { handle, client, wants, ...said } = asked.about as unknown as AboutParked;
    const conversation = conversations.resume(handle, (own) => isSaid(own, said), asked.body);
    const { server, isStarting = false } = conversation.ways.stage ?? {};
    asked.say({ as: "stage", server, isStarting } satisfies Said);
    conversation.ways = { ...waysTo(asked, client, wants), stage: { server, isStarting } };
    const { body, ...reply } = await deps.nextTurn(conversation, asked.signal);
    return { about: reply, body: Buffer.from(joinText(body), "latin1") };
  });

  async function ask(node: string, handle: string, { binding, answers, ways, signal }: ComingBack): Promise<ReplyBody> {
    const wants = { progress: ways.onProgress !== undefined, log: ways.onLog !== undefined };
    const about: AboutParked = { handle, client: ways.client, wants, ...toSaid(binding) };
    const onSaid = (said: JsonObject, body: Buffer): void => hear(ways, said as unknown as Said, body);
    try {
      const asked = { kind: "parked", about: { ...about }, body: answers, signal, onSaid } as const;
      const answer = await elsewhere.ask(node, asked);
      if (answer === undefined) return conversations.refuse();
      return { ...(answer.about as Pick<ReplyBody, "status">), body: answer.body?.toString("latin1") ?? "" };
    } catch (error) {
      throw error instanceof GatewayError && lost.has(error.code) ? lostNode(node) : error;
    }
  }

  return {
    resume(handle, coming) {
      const node = conversations.nodeOf(handle);
      return node === undefined || node === elsewhere.node ? undefined : ask(node, handle, coming);
    },
  };
}

interface AboutParked extends SaidBinding {
  readonly handle: string;
  readonly client: Ways["client"];
  readonly wants: { readonly progress: boolean; readonly log: boolean };
}

/** Of a request, whose arguments may be large, its hash. */
function toSaid({ principal, request }: Binding): SaidBinding {
  return {
    principal: principal.id,
    credential: credentialText(principal),
    request: createHash("sha256").update(request, "latin1").digest("base64url"),
  };
}

function isSaid(own: Binding, { principal, credential, request }: SaidBinding): boolean {
  const isTheirs = own.principal.id === principal && credentialText(own.principal) === credential;
  return isTheirs && toSaid(own).request === request;
}

/** What the call says goes to the node at which its client waits. */
function waysTo({ say }: AskedHeld, client: Ways["client"], wants: AboutParked["wants"]): Ways {
  const saying = (as: "progress" | "log") => (params: JsonObject) => say({ as, params } satisfies Said);
  return {
    client,
    onProgress: wants.progress ? saying("progress") : undefined,
    onLog: wants.log ? saying("log") : undefined,
    replies: {
      send(message) {
        say({ as: "message" } satisfies Said, Buffer.from(message, "latin1"));
        return true;
      },
    },
  };
}

function hear({ onProgress, onLog, replies, stage }: Ways, said: Said, body: Buffer): void {
  if (said.as === "progress") onProgress?.(said.params);
  else if (said.as === "log") onLog?.(said.params);
  else if (said.as === "message") replies?.send(body.toString("latin1"));
  else if (stage !== undefined) [stage.server, stage.isStarting] = [said.server, said.isStarting];
}

const lost: ReadonlySet<string> = new Set(["NODE_ENDED", "OUTCOME_UNKNOWN"]);

function lostNode(node: string): GatewayError {
  return new GatewayError(
    "OUTCOME_UNKNOWN",
    `the node ${node}, at which the call waited for its answer, was lost: the call may or may not have taken effect`,
    { hint: "Check whether the call took effect, and start it again without requestState." },
  );
}
