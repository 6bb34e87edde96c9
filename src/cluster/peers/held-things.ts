import { fromSentFailure, GatewayError, toGatewayError, toSentFailure } from "../../kernel/failures/gateway-error.ts";
import type { SentFailure } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { ClusterStore } from "../../store/shared.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import type { FrameStream } from "./frames.ts";
import type { AskingFrame, HeldKind } from "./messages.ts";
import type { PeerClient, Told } from "./peer-client.ts";
import type { Reach } from "./node-reach.ts";
import { Unreachable } from "./peer-links.ts";

/** What a node asks about something that another one keeps. */
export interface HeldAsk {
  readonly kind: HeldKind;
  readonly about: JsonObject;
  readonly body?: Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Takes what the node says before its answer. */
  readonly onSaid?: ((about: JsonObject, body: Buffer) => void) | undefined;
  /** Asking twice does the same as asking once: where a link breaks, it is asked again. */
  readonly isHarmless?: true;
}

export interface HeldAnswer {
  readonly about: JsonObject;
  readonly body?: Buffer;
}

/** A question of another node, which is trusted about who asks. */
export interface AskedHeld {
  readonly about: JsonObject;
  readonly body: Buffer;
  /** Aborts when the answer is not awaited any more. */
  readonly signal: AbortSignal;
  /** Says something before the answer. */
  readonly say: (about: JsonObject, body?: Buffer) => void;
}

/** Answers a question; undefined where the thing is not here. What it throws, the asking node throws. */
export type AnswerHeld = (asked: AskedHeld) => HeldAnswer | undefined | Promise<HeldAnswer | undefined>;

/**
 * Things that live at one node and that clients name at any: their ids begin with the node's name. One way for all of
 * them to ask that node.
 */
export interface Elsewhere {
  /** This node, by which it names what it keeps; undefined until it has joined. */
  readonly node: string | undefined;
  /** This node answers for what it keeps. */
  answer(kind: HeldKind, answer: AnswerHeld): void;
  /**
   * Asks a node; undefined where the thing is not there. Rejects with NODE_ENDED, with NODE_SILENT where it was not
   * asked, with OUTCOME_UNKNOWN where it was asked and lost before it answered, and with what the node throws.
   */
  ask(node: string, asked: HeldAsk): Promise<HeldAnswer | undefined>;
  /** Asks the node, and where it has ended or has not got it, all others: a node that is stopped gives things away. */
  find(node: string, asked: HeldAsk): Promise<HeldAnswer | undefined>;
  /** Asks all other nodes that are reached, each for a second at most; those that do not answer are left out. */
  others(asked: HeldAsk): Promise<readonly HeldAnswer[]>;
  /** Runs while this node is being stopped, with the node that it gives things to. */
  onLeave(give: (heir: string) => Promise<void>): void;
}

export interface HeldDeps {
  readonly answerOf: (kind: HeldKind) => AnswerHeld | undefined;
}

/** In one frame, so that it overtakes nothing. */
const saidBytes = 256 * 1024;

/** Answers the questions of one node. */
export function serveHeld(frames: FrameStream, { answerOf }: HeldDeps) {
  const running = new Map<number, AbortController>();

  function say(id: number, about: JsonObject, body: Buffer): void {
    let at = 0;
    do {
      const more = body.length - at > saidBytes;
      frames.send({ k: "saying", id, about: more ? {} : about, more }, body.subarray(at, at + saidBytes));
      at += saidBytes;
    } while (at < body.length);
  }

  function cancel(id: number): void {
    running.get(id)?.abort(new GatewayError("CALL_CANCELLED", "the client at another node has left"));
  }

  async function answer({ id, about, kind }: Extract<HeldFrame, { k: "tell" }>, body: Buffer): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    const asked: AskedHeld = {
      ...{ about, body, signal: controller.signal },
      say: (said, bytes = Buffer.alloc(0)) => say(id, said, bytes),
    };
    try {
      const found = isJsonObject(about) ? await answerOf(kind)?.(asked) : undefined;
      frames.send({ k: "told", id, ...(found && { about: found.about }) }, found?.body);
    } catch (error) {
      frames.send({ k: "told", id, failure: toSentFailure(toGatewayError(error)) });
    } finally {
      running.delete(id);
    }
  }

  void frames.closed.then(() => [...running.keys()].forEach(cancel));
  return {
    takes: (frame: AskingFrame): frame is HeldFrame =>
      frame.k === "untell" || (frame.k === "tell" && frame.question === "held"),
    take(frame: HeldFrame, body: Buffer): void {
      if (frame.k === "untell") cancel(frame.id);
      else void answer(frame, body);
    },
  };
}

type HeldFrame = Extract<AskingFrame, { k: "untell" } | { question: "held" }>;

export interface ElsewhereDeps {
  readonly membership: Membership;
  readonly clock: Clock;
  readonly reach: Reach;
  readonly store: Pick<ClusterStore, "markDead">;
}

/** A slice of what was kept, or a note. What lasts longer has a signal. */
const harmlessMs = 10_000;
const othersMs = 1_000;

/** Asks other nodes. */
export function createAskElsewhere({ membership, clock, reach, store }: ElsewhereDeps) {
  const rowOf = (id: string) => membership.nodes().find((node) => node.id === id);

  async function clientOf(id: string): Promise<PeerClient> {
    const row = rowOf(id);
    try {
      if (row !== undefined && row.state !== "dead") return await reach(row);
    } catch (error) {
      if (!(error instanceof Unreachable) || !error.isGone) throw silent(id, error);
      await store.markDead(row as KnownNode).catch(() => undefined);
      await membership.look();
      const next = rowOf(id);
      // It may have been started again.
      if (next !== undefined && next.epoch !== row?.epoch && next.state !== "dead")
        return await reach(next).catch((why: unknown) => {
          throw silent(id, why);
        });
    }
    throw new GatewayError("NODE_ENDED", `the node ${id} has ended, with what it kept`);
  }

  async function askOnce(id: string, asked: HeldAsk): Promise<Told> {
    const client = await clientOf(id);
    const { kind, about, body, isHarmless, ...ways } = asked;
    try {
      return await client.ask({ question: "held", kind, about }, isHarmless && harmlessMs, body, ways);
    } catch (error) {
      asked.signal?.throwIfAborted();
      if (error instanceof Unreachable) throw silent(id, error);
      throw new GatewayError("OUTCOME_UNKNOWN", `the node ${id} was lost before it answered`);
    }
  }

  async function ask(id: string, asked: HeldAsk): Promise<HeldAnswer | undefined> {
    const isLost = (error: unknown) => error instanceof GatewayError && error.code === "OUTCOME_UNKNOWN";
    const told = await askOnce(id, asked).catch(async (error: unknown) => {
      if (asked.isHarmless !== true || !isLost(error)) throw error;
      return await askOnce(id, asked);
    });
    const { failure, about, bytes } = told;
    if (failure !== undefined) throw fromSentFailure(failure as SentFailure);
    return isJsonObject(about) ? { about, body: bytes } : undefined;
  }

  async function others(asked: HeldAsk, but?: string): Promise<readonly HeldAnswer[]> {
    const nowMs = clock.monotonic();
    const isOther = ({ id, state, leasedUntilMs }: KnownNode): boolean =>
      id !== membership.me.id && id !== but && state !== "dead" && leasedUntilMs > nowMs;
    const { kind, about, body } = asked;
    const answers = membership
      .nodes()
      .filter(isOther)
      .map(async (node) => await (await reach(node)).ask({ question: "held", kind, about }, othersMs, body));
    const settled = await Promise.allSettled(answers);
    return settled.flatMap((one) => {
      if (one.status === "rejected" || !isJsonObject(one.value["about"])) return [];
      return [{ about: one.value["about"], body: one.value.bytes }];
    });
  }

  return {
    ask,
    others: async (asked: HeldAsk) => await others(asked),
    async find(id: string, asked: HeldAsk): Promise<HeldAnswer | undefined> {
      let ended: unknown;
      try {
        const found = await ask(id, asked);
        if (found !== undefined) return found;
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== "NODE_ENDED") throw error;
        ended = error;
      }
      const [found] = await others(asked, id);
      if (found === undefined && ended !== undefined) throw ended;
      return found;
    },
  };
}

function silent(id: string, error: unknown): GatewayError {
  const why = error instanceof Error ? error.message : "";
  return new GatewayError("NODE_SILENT", `the node ${id} was not asked: ${why}`, {
    hint: "Call again in a few seconds.",
  });
}
