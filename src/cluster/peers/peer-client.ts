import { fromSentFailure, type GatewayError, type SentFailure } from "../../kernel/failures/gateway-error.ts";
import { abortReason, createSignal } from "../../kernel/runtime/abort.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Opened } from "../../servers/instance/instance-deps.ts";
import type { ConnectionEvents } from "../../servers/upstream/connection.ts";
import { createFarConnection, type FarConnection, type FarOptions } from "./far-connection.ts";
import { Unreachable, type PeerLink } from "./peer-links.ts";
import { moved, type AnsweringFrame, type AskingFrame, type FarInstance, type PeerQuestion } from "./messages.ts";

/** Instances that another node runs, over one link to it. */
export interface PeerClient {
  /** Connects to an instance there. Rejects with INSTANCE_MOVED when that node does not run it any more. */
  open(wanted: FarInstance, events: ConnectionEvents, signal: AbortSignal): Promise<Opened>;
  /**
   * Asks the node something that concerns no instance. Rejects when the link ends first, the time is over, or the
   * signal aborts; with Unreachable, and at once, where it was not asked because too many questions wait.
   */
  ask(question: PeerQuestion, timeoutMs: number | undefined, body?: Buffer, ways?: AskWays): Promise<Told>;
  /** Has the node tell what happens there, to one listener, until that is undefined. */
  watch(listener: ((said: Happening, body: Buffer) => void) | undefined): void;
  /** Whether it can be used. */
  readonly isOpen: boolean;
  readonly closed: Promise<void>;
  close(): void;
}

/** The answer, and its bytes. */
export type Told = Extract<AnsweringFrame, { k: "told" }> & { readonly bytes: Buffer };

export interface AskWays {
  readonly signal?: AbortSignal | undefined;
  /** Takes what the node says before its answer. */
  readonly onSaid?: ((about: JsonObject, body: Buffer) => void) | undefined;
}

type Happening = Extract<AnsweringFrame, { k: "happened" }>;
type Answered = Extract<AnsweringFrame, { k: "opened" | "refused" }>;

interface Channel {
  readonly events: ConnectionEvents;
  readonly far: FarConnection;
  /** Undefined when nothing will come. */
  readonly onAnswered: (frame: Answered | undefined) => void;
}

/** Some of them pass on what clients send, and some last as long as a stream. */
const mostQuestions = 4_000;
/** Of one message before an answer, in all of its pieces. */
const mostSaidBytes = 64 * 1024 ** 2;

/** Asks over a link. Everything that waits fails when it ends. */
export function createPeerClient(link: PeerLink, waiting: FarOptions["waiting"]): PeerClient {
  const { frames, peer } = link;
  const channels = new Map<number, Channel>();
  const asking = createAsking(link);
  let lastId = 0;
  let isOpen = true;
  let watcher: ((said: Happening, body: Buffer) => void) | undefined;

  function take(frame: AnsweringFrame, body: Buffer): void {
    if (frame.k === "told" || frame.k === "saying") return asking.take(frame, body);
    if (frame.k === "happened") return watcher?.(frame, body);
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
    asking.failAll();
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
    async ask(question, timeoutMs, body, ways) {
      lastId += 1;
      return await asking.ask({ k: "tell", id: lastId, ...question }, { timeoutMs, body, ...ways, isOpen });
    },
    watch(listener) {
      watcher = listener;
      frames.send({ k: "watch", isWanted: listener !== undefined });
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

interface AskOptions extends AskWays {
  readonly timeoutMs: number | undefined;
  readonly body: Buffer | undefined;
  readonly isOpen: boolean;
}

interface Waiting {
  readonly answer: (told: Told | undefined) => void;
  readonly onSaid: AskWays["onSaid"];
  readonly said: Buffer[];
}

/** Questions that wait for their answers. */
function createAsking({ frames, peer }: PeerLink) {
  const questions = new Map<number, Waiting>();

  return {
    async ask(tell: Extract<AskingFrame, { k: "tell" }>, options: AskOptions): Promise<Told> {
      const { timeoutMs, body, signal, onSaid, isOpen } = options;
      const { id } = tell;
      signal?.throwIfAborted();
      if (questions.size >= mostQuestions)
        throw new Unreachable(`${questions.size} questions to ${peer.id} wait already`, false);
      return await new Promise<Told>((resolve, reject) => {
        const leave = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", giveUp);
          questions.delete(id);
        };
        const answer = (told: Told | undefined): void => {
          leave();
          if (told === undefined) reject(new Error(`${peer.id} did not answer`));
          else resolve(told);
        };
        const giveUp = (): void => {
          leave();
          frames.send({ k: "untell", id });
          reject(abortReason(signal as AbortSignal));
        };
        const timer = timeoutMs === undefined ? undefined : setTimeout(() => answer(undefined), timeoutMs);
        timer?.unref();
        signal?.addEventListener("abort", giveUp, { once: true });
        questions.set(id, { answer, onSaid, said: [] });
        frames.send({ ...tell }, body);
        if (!isOpen) answer(undefined);
      });
    },
    take(frame: Extract<AnsweringFrame, { k: "told" | "saying" }>, bytes: Buffer): void {
      const waiting = questions.get(frame.id);
      if (frame.k === "told") return waiting?.answer({ ...frame, bytes });
      if (waiting === undefined) return;
      const { said, onSaid } = waiting;
      // The rest of the chunk that a piece lies in is not to be kept with it.
      said.push(frame.more ? Buffer.from(bytes) : bytes);
      if (said.reduce((sum, { length }) => sum + length, 0) > mostSaidBytes) frames.destroy();
      if (!frame.more) onSaid?.(frame.about, Buffer.concat(said.splice(0)));
    },
    failAll(): void {
      for (const { answer } of [...questions.values()]) answer(undefined);
    },
  };
}
