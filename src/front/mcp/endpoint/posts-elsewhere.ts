import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Elsewhere } from "../../../cluster/peers/held-things.ts";
import { holdBody } from "../../http/body.ts";
import type { BodyRoom } from "../../http/guards/body-room.ts";
import { splitHeldId } from "../../../kernel/ids.ts";
import { credentialText, type Principal } from "../../../kernel/principal.ts";
import { createSignal } from "../../../kernel/runtime/abort.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Endpoint } from "./endpoint.ts";

/** An event stream of HTTP+SSE at this node. */
interface HeldStream {
  readonly principal: Principal;
  readonly endpoint: Endpoint;
}

/** Messages to event streams of HTTP+SSE (2024-11-05, transports) that another node has. */
export interface PostsElsewhere {
  /** Whether the id names a stream of another node. */
  isThere(id: string): boolean;
  /**
   * Takes a message to the node of the stream, and resolves to how that one answers the POST; undefined where there is
   * no such stream. Rejects with NODE_ENDED, NODE_SILENT and OUTCOME_UNKNOWN, with RATE_LIMITED while too much waits
   * for a client that does not read its stream, and with the signal's reason.
   */
  pass(posted: PostedMessage, signal: AbortSignal): Promise<PostAnswer | undefined>;
}

export interface PostedMessage {
  /** Of the stream. */
  readonly id: string;
  readonly path: string;
  readonly principal: Principal;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface PostAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly text: string;
}

export interface PostsElsewhereDeps {
  readonly elsewhere: Elsewhere;
  readonly find: (id: string) => HeldStream | undefined;
  /** Messages are in memory until there is room in their stream. */
  readonly room: BodyRoom;
  /** Takes a message that is posted to a stream of this node. */
  readonly post: (request: IncomingMessage, response: ServerResponse, endpoint: Endpoint, principal: Principal) => void;
}

/** What else of a request counts; whom it comes from is decided where it arrived. */
const passed = ["content-type", "traceparent", "tracestate", "baggage"] as const;

/** Takes messages of other nodes from now on. */
export function createPostsElsewhere({ elsewhere, find, room, post }: PostsElsewhereDeps): PostsElsewhere {
  elsewhere.answer("post", async ({ about, body }) => {
    const { id, path, principal, credential, headers } = about as unknown as AboutPost;
    const stream = find(id);
    if (stream?.endpoint.path !== path || stream.principal.id !== principal) return undefined;
    if (credentialText(stream.principal) !== credential) return undefined;
    const { user, id: who } = stream.principal;
    const leave = holdBody(room, user ?? who, body);
    const { request, response, answer } = withoutConnection(`?sessionId=${encodeURIComponent(id)}`, headers, body);
    post(request, response, { ...stream.endpoint, sse: "messages" }, stream.principal);
    return { about: { ...(await answer.finally(leave)) } as unknown as JsonObject };
  });

  return {
    isThere: (id) => ![undefined, elsewhere.node].includes(splitHeldId(id).node),
    async pass({ id, path, principal, headers, body }, signal) {
      const about: AboutPost = {
        ...{ id, path, principal: principal.id, credential: credentialText(principal) },
        headers: Object.fromEntries(passed.map((name) => [name, headers[name]])),
      };
      const { node = "" } = splitHeldId(id);
      const answer = await elsewhere.ask(node, { kind: "post", about: { ...about }, body, signal });
      return answer?.about as unknown as PostAnswer | undefined;
    },
  };
}

interface AboutPost {
  readonly id: string;
  readonly path: string;
  readonly principal: string;
  readonly credential: string;
  readonly headers: IncomingMessage["headers"];
}

/** A request without a connection, whose answer is kept instead of written. */
function withoutConnection(url: string, headers: IncomingMessage["headers"], body: Buffer) {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: "POST", url, headers, complete: true });
  request.push(body);
  request.push(null);
  const response = new ServerResponse(request);
  const { promise: answer, done } = createSignal<PostAnswer>();
  let [status, named]: [number, readonly string[]] = [200, []];
  Object.assign(response, {
    writeHead(code: number, more: readonly string[] = []) {
      [status, named] = [code, more];
      return response;
    },
    end(text = "") {
      done({ status, headers: named, text });
      return response;
    },
  });
  return { request, response, answer };
}
