import { fromSentFailure, type GatewayError, type SentFailure } from "../../kernel/failures/gateway-error.ts";
import { createSignal } from "../../kernel/runtime/abort.ts";
import type { Opened } from "../../servers/instance/instance-deps.ts";
import type { ConnectionEvents } from "../../servers/upstream/connection.ts";
import { createFarConnection, type FarConnection, type FarOptions } from "./far-connection.ts";
import type { PeerLink } from "./peer-links.ts";
import { moved, type AnsweringFrame, type FarInstance, type PeerQuestion } from "./messages.ts";

/** Instances that another node runs, over one link to it. */
export interface PeerClient {
  /** Connects to an instance there. Rejects with INSTANCE_MOVED when that node does not run it any more. */
  open(wanted: FarInstance, events: ConnectionEvents, signal: AbortSignal): Promise<Opened>;
  /**
   * Asks the node something that concerns no instance. Rejects when the link ends first, or the time is over, and at
   * once where a thousand questions wait.
   */
  ask(question: PeerQuestion, timeoutMs: number, body?: Buffer): Promise<Told>;
  /** Whether it can be used. */
  readonly isOpen: boolean;
  readonly closed: Promise<void>;
  close(): void;
}

type Told = Extract<AnsweringFrame, { k: "told" }>;
type Answered = Extract<AnsweringFrame, { k: "opened" | "refused" }>;

interface Channel {
  readonly events: ConnectionEvents;
  readonly far: FarConnection;
  /** Undefined when nothing will come. */
  readonly onAnswered: (frame: Answered | undefined) => void;
}

/** Some of them pass on what clients send. */
const mostQuestions = 1_000;

/** Asks over a link. Everything that waits fails when it ends. */
export function createPeerClient(link: PeerLink, waiting: FarOptions["waiting"]): PeerClient {
  const { frames, peer } = link;
  const channels = new Map<number, Channel>();
  const questions = new Map<number, (told: Told | undefined) => void>();
  let lastId = 0;
  let isOpen = true;

  function take(frame: AnsweringFrame, body: Buffer): void {
    if (frame.k === "told") return questions.get(frame.id)?.(frame);
    const channel = channels.get(frame.c);
    if (channel === undefined) return;
    if (frame.k === "opened" || frame.k === "refused") channel.onAnswered(frame);
    else if (frame.k === "ended") channel.far.end(frame.closed);
    else if (frame.k !== "event") channel.far.take(frame, body);
    else if (frame.method === undefined) channel.events.onSessionReplaced?.();
    else channel.events.onNotification(frame.method, frame.params ?? {}, frame.audience);
  }

  link.listen((head, body) => take(head as unknown as AnsweringFrame, body));
  void frames.closed.then(() => {
    isOpen = false;
    for (const answer of [...questions.values()]) answer(undefined);
    for (const { onAnswered, far } of [...channels.values()]) {
      onAnswered(undefined);
      far.end({ kind: "moved", node: peer.id, isLost: true });
    }
  });

  async function open(wanted: FarInstance, events: ConnectionEvents, signal: AbortSignal): Promise<Opened> {
    lastId += 1;
    const c = lastId;
    const { promise, done } = createSignal<Answered | undefined>();
    const far = createFarConnection({
      ...{ frames, node: peer.id, c, server: wanted.server, waiting },
      onEnd: () => channels.delete(c),
    });
    channels.set(c, { events, far, onAnswered: done });
    const giveUp = (): void => done(undefined);
    signal.addEventListener("abort", giveUp, { once: true });
    frames.send({ k: "open", c, ...wanted });
    if (!isOpen || signal.aborted) giveUp();
    const answered = await promise;
    signal.removeEventListener("abort", giveUp);
    if (answered?.k === "opened") return far.toOpened(answered.peer);
    channels.delete(c);
    if (signal.aborted) frames.send({ k: "close", c });
    signal.throwIfAborted();
    throw answered === undefined ? moved(wanted.server, peer.id) : fromNode(answered.failure, peer.id);
  }

  return {
    open,
    async ask(question, timeoutMs, body) {
      if (questions.size >= mostQuestions) throw new Error(`${questions.size} questions to ${peer.id} wait already`);
      lastId += 1;
      const id = lastId;
      return await new Promise<Told>((resolve, reject) => {
        const answer = (told: Told | undefined): void => {
          clearTimeout(timer);
          questions.delete(id);
          if (told === undefined) reject(new Error(`${peer.id} did not answer`));
          else resolve(told);
        };
        const timer = setTimeout(() => answer(undefined), timeoutMs);
        timer.unref();
        questions.set(id, answer);
        frames.send({ k: "tell", id, ...question }, body);
        if (!isOpen) answer(undefined);
      });
    },
    get isOpen() {
      return isOpen;
    },
    closed: frames.closed,
    close: () => frames.destroy(),
  };
}

/** The failure of a start at another node, which says where. */
function fromNode(failure: SentFailure, node: string): GatewayError {
  return failure.code === "INSTANCE_MOVED"
    ? fromSentFailure(failure)
    : fromSentFailure({ ...failure, data: { ...failure.data, node } });
}
