import type { Answer, Question, Replies } from "../../kernel/call/call-context.ts";
import { createSignal } from "../../kernel/runtime/abort.ts";
import { GatewayError, toGatewayError, toSentFailure, type SentFailure } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { Audience, Connection, UpstreamRequest } from "../../servers/upstream/connection.ts";
import type { FrameHead, FrameStream } from "./frames.ts";
import { serveHeld, type HeldDeps } from "./held-things.ts";
import { createTelling, type FollowHere } from "./node-watch.ts";
import { moved, unpackParams, type AnsweringFrame, type AskingFrame, type PeerQuestion } from "./messages.ts";

export interface PeerHostDeps {
  readonly node: string;
  /** The instance, made for its owner where it was not used here before; undefined when there is none. */
  readonly find: (instance: string, owner: string | null) => Instance | undefined;
  /** Whether this node runs it, and serves it now. */
  readonly holds: (instance: string) => boolean;
  /** Whether this node has a lease. Without one it is not waited for: another node may run the instance soon. */
  readonly mayServe: () => boolean;
  /** Whether this node stops: what it refuses then, another one does not. */
  readonly isStopping: () => boolean;
  /** What another node asks that concerns no instance. */
  readonly tell: (question: PeerQuestion, body: Buffer) => JsonObject | Promise<JsonObject>;
  /** How this node answers questions about what lives at one node. */
  readonly answerOf: HeldDeps["answerOf"];
  /** What happens at this node, for those who read it at others. */
  readonly follow: FollowHere;
}

/** Serves other nodes: they use instances that this one runs. */
export interface PeerHost {
  /** A node has connected. Returns what takes its frames. */
  serve(frames: FrameStream): (head: FrameHead, body: Buffer) => void;
  /**
   * This node is asking another one for the instance until the returned function is called: who asks this one for it in
   * the meantime is told that it has moved, as otherwise two nodes could wait for each other.
   */
  goAway(instance: string): () => void;
  /** What a server said on its own; without a method, that its session was replaced. */
  tellEvent(instance: string, method?: string, params?: JsonObject, audience?: Audience): void;
}

type Asked<Kind extends AskingFrame["k"]> = Extract<AskingFrame, { k: Kind }>;
type Said = Extract<AnsweringFrame, { k: "event" }>;

/** What another node asked of one instance. */
interface Channel {
  readonly instance: Instance;
  readonly connection: Connection;
  readonly requests: Map<number, AbortController>;
  /** Nothing that the server says on its own is told there any more. */
  readonly leave: () => void;
}

export function createPeerHost(deps: PeerHostDeps): PeerHost {
  /** Who hears what servers say. */
  const listeners = new Map<string, Set<(said: Omit<Said, "c">) => void>>();

  function listen(instance: string, send: (said: Omit<Said, "c">) => void): () => void {
    const all = listeners.get(instance) ?? new Set();
    listeners.set(instance, all.add(send));
    return () => {
      all.delete(send);
      if (all.size === 0 && listeners.get(instance) === all) listeners.delete(instance);
    };
  }

  const away = createAway();

  return {
    goAway: away.begin,
    serve(frames) {
      const telling = createTelling(frames, deps.follow);
      const take = servePeer(frames, { ...deps, unlessAway: away.unless }, listen);
      return (head, body) => {
        const frame = head as unknown as AskingFrame;
        return frame.k === "watch" ? telling(frame.isWanted) : take(frame, body);
      };
    },
    tellEvent(instance, method, params, audience) {
      const about = { ...(params && { params }), ...(audience && { audience }) };
      for (const send of listeners.get(instance) ?? []) send({ k: "event", ...(method && { method }), ...about });
    },
  };
}

type Listen = (instance: string, send: (said: Omit<Said, "c">) => void) => () => void;

/** Instances that this node is asking others for, and those who ask this node for one. */
function createAway() {
  const counts = new Map<string, number>();
  const asking = new Map<string, Set<() => void>>();

  async function unless<T>(instance: string, work: T | Promise<T>, failure: () => GatewayError): Promise<T> {
    if (!(work instanceof Promise)) return work;
    const { promise: isAway, done } = createSignal();
    const others = asking.get(instance) ?? new Set();
    asking.set(instance, others.add(done));
    if (counts.has(instance)) done();
    try {
      const refused = async (): Promise<never> => {
        await isAway;
        throw failure();
      };
      return await Promise.race([work, refused()]);
    } finally {
      others.delete(done);
      if (others.size === 0 && asking.get(instance) === others) asking.delete(instance);
    }
  }

  return {
    unless,
    begin(instance: string): () => void {
      counts.set(instance, (counts.get(instance) ?? 0) + 1);
      for (const done of asking.get(instance) ?? []) done();
      return () => {
        const left = (counts.get(instance) ?? 1) - 1;
        if (left === 0) counts.delete(instance);
        else counts.set(instance, left);
      };
    },
  };
}

interface ServedDeps extends PeerHostDeps {
  readonly unlessAway: ReturnType<typeof createAway>["unless"];
}

function servePeer(frames: FrameStream, deps: ServedDeps, listen: Listen) {
  const { unlessAway } = deps;
  const channels = new Map<number, Channel>();
  /** Those that are not open yet: one that is closed meanwhile is not opened. */
  const opening = new Set<number>();
  const questions = createQuestions(frames);
  const held = serveHeld(frames, deps);
  const ended = new AbortController();
  void frames.closed.then(() => {
    ended.abort(new GatewayError("CALL_CANCELLED", "the node that asked is not connected any more"));
    for (const c of [...channels.keys()]) close(c, ended.signal.reason);
    questions.failAll();
  });

  /** The other node uses the instance no longer. */
  function close(c: number, why: unknown): void {
    const channel = channels.get(c);
    opening.delete(c);
    channels.delete(c);
    channel?.leave();
    for (const request of channel?.requests.values() ?? []) request.abort(why);
  }

  async function open({ c, instance: id, owner, server }: Asked<"open">): Promise<void> {
    opening.add(c);
    try {
      const instance = deps.find(id, owner);
      if (instance === undefined || !deps.mayServe()) throw moved(server, deps.node);
      const connection = await unlessAway(id, instance.acquire(ended.signal), () => moved(server, deps.node));
      // It may have found that another node runs it: that one is to be asked, not this.
      if (connection.far !== undefined || !deps.holds(instance.id)) throw moved(server, deps.node);
      if (!opening.has(c) || ended.signal.aborted) return;
      const leave = listen(instance.id, (said) => frames.send({ ...said, c }));
      channels.set(c, { instance, connection, requests: new Map(), leave });
      frames.send({ k: "opened", c, peer: connection.peer });
      void connection.closed.then(() => {
        leave();
        // To the other node it has moved, whatever the end was: its next call finds out where it runs.
        if (channels.delete(c)) frames.send({ k: "ended", c, closed: { kind: "moved", node: deps.node } });
      });
    } catch (error) {
      frames.send({ k: "refused", c, failure: failureOf(error, server, deps) });
    } finally {
      opening.delete(c);
    }
  }

  async function run(frame: Asked<"request">, body: Buffer): Promise<void> {
    const { k: _k, c, id, lengths, wants, ...rest } = frame;
    const channel = channels.get(c);
    const controller = new AbortController();
    let sent = false;
    try {
      const params = unpackParams(lengths, body);
      if (channel === undefined || params === undefined) throw moved(rest.method, deps.node);
      const { instance, requests, connection } = channel;
      requests.set(id, controller);
      // Each use counts, so that it is not stopped for being idle.
      if (instance.acquire(controller.signal) !== connection) throw moved(instance.server.slug, deps.node);
      const reply = await connection.request({
        ...rest,
        ...answersOf(frames, frame),
        ...(wants.ask ? { ask: questions.asking(frame) } : {}),
        params,
        signal: controller.signal,
        onSent: () => (sent = true),
      });
      if (reply.kind === "result") frames.send({ k: "result", c, id }, reply.result);
      else frames.send({ k: "error", c, id }, reply.error);
    } catch (error) {
      const failure = sent ? toSentFailure(toGatewayError(error)) : failureOf(error, rest.method, deps);
      frames.send({ k: "failed", c, id, sent, failure });
    } finally {
      channel?.requests.delete(id);
    }
  }

  return (frame: Exclude<AskingFrame, { k: "watch" }>, body: Buffer): void => {
    if (frame.k === "open") void open(frame);
    else if (frame.k === "close") close(frame.c, cancelled());
    else if (frame.k === "request") void run(frame, body);
    else if (frame.k === "cancel") channels.get(frame.c)?.requests.get(frame.id)?.abort(cancelled());
    else if (frame.k === "notify") void notify(channels.get(frame.c), frame);
    else if (held.takes(frame)) held.take(frame, body);
    else if (frame.k === "tell") void tell(frames, deps, frame, body);
    else questions.take(frame, body);
  };
}

async function tell(frames: FrameStream, deps: ServedDeps, frame: Asked<"tell">, body: Buffer): Promise<void> {
  frames.send({ ...(await deps.tell(frame, body)), k: "told", id: frame.id });
}

function failureOf(error: unknown, what: string, { isStopping, node }: ServedDeps): SentFailure {
  return toSentFailure(isStopping() ? moved(what, node) : toGatewayError(error));
}

async function notify(channel: Channel | undefined, { method, params }: Asked<"notify">): Promise<void> {
  await channel?.connection.notify(method, params).catch(() => undefined);
}

function cancelled(): GatewayError {
  return new GatewayError("CALL_CANCELLED", "the caller at another node has cancelled the call");
}

/** What a server says before its answer goes back over the link. */
function answersOf(frames: FrameStream, { c, id, wants }: Asked<"request">): Partial<UpstreamRequest> {
  const say = (k: "progress" | "log") => (params: JsonObject) => frames.send({ k, c, id, params });
  const replies: Replies = {
    send(message) {
      frames.send({ k: "message", c, id }, Buffer.from(message, "latin1"));
      return true;
    },
    ...(wants.breakOff ? { breakOff: (nextMs: number) => frames.send({ k: "breakOff", c, id, nextMs }) } : {}),
  };
  return {
    ...(wants.progress ? { onProgress: say("progress") } : {}),
    ...(wants.log ? { onLog: say("log") } : {}),
    ...(wants.replies ? { replies } : {}),
  };
}

interface OpenQuestion {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
  readonly fail: (why: string) => void;
}

/** Questions of servers to clients of the other node. */
function createQuestions(frames: FrameStream) {
  const open = new Map<number, OpenQuestion>();
  let last = 0;
  return {
    asking: ({ c, id }: Asked<"request">): NonNullable<UpstreamRequest["ask"]> => {
      return async (question, signal) =>
        await new Promise<Answer>((settle, reject) => {
          last += 1;
          const q = last;
          const end = (): void => {
            open.delete(q);
            signal.removeEventListener("abort", giveUp);
          };
          const fail = (why: string): void => {
            end();
            reject(new GatewayError("CALL_CANCELLED", why));
          };
          const giveUp = (): void => fail("the question was withdrawn");
          signal.addEventListener("abort", giveUp, { once: true });
          open.set(q, {
            ...{ question, fail },
            settle(answer) {
              end();
              settle(answer);
            },
          });
          const { method, params, key, onProgress } = question;
          const wantsProgress = onProgress !== undefined;
          frames.send({ k: "ask", c, id, q, method, ...(key === undefined ? {} : { key }), wantsProgress }, params);
        });
    },
    take(frame: Asked<"answer" | "unanswered" | "answering">, body: Buffer): void {
      const asked = open.get(frame.q);
      if (frame.k === "answering") asked?.question.onProgress?.(frame.params);
      else if (frame.k === "unanswered") asked?.fail(frame.message);
      else asked?.settle(frame.as === "result" ? { kind: "result", result: body } : { kind: "error", error: body });
    },
    failAll() {
      for (const { fail } of [...open.values()]) fail("the node that asked is not connected any more");
    },
  };
}
