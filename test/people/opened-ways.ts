import { expect } from "vitest";
import { openSession, modernStream, openStream, type OpenStream } from "../protocol/stream.ts";
import { openSse } from "../protocol/sse-client.ts";
import { everything } from "../protocol/clients.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

type Headers = Readonly<Record<string, string>>;

/** What somebody comes with, and where it lets them in. */
export interface Credential {
  readonly url: string;
  readonly headers: Headers;
  /** Of Streamable HTTP and of HTTP+SSE; undefined where the credential opens REST alone. */
  readonly mcp?: { readonly path: string; readonly sse: string; readonly isOfInstance: boolean } | undefined;
  /** Undefined where it opens no REST. */
  readonly rest?: { readonly instance: string } | undefined;
}

/** Something that is open. Resolves when it has ended, and fails where it ended in another way than it should. */
export interface Opened {
  readonly ended: Promise<unknown>;
  /** How many requests the server has in its hands for it. */
  readonly calls: number;
}

/** One that opens both. Each way uses what it is for. */
type Both = Credential & { readonly [Door in "mcp" | "rest"]: NonNullable<Credential[Door]> };
type Open = (credential: Both) => Promise<Opened>;

const lost = "the credential is no longer valid";

function toCall({ mcp }: Both, tool: string): { name: string; arguments: object } {
  if (mcp.isOfInstance) return { name: tool, arguments: {} };
  return { name: "execute_mcp_tool", arguments: { tool_path: `own:${tool}`, arguments: {} } };
}

/** One answer to one request, which says that the credential is gone. */
async function refused(stream: OpenStream): Promise<void> {
  await until(() => stream.ended);
  expect(JSON.stringify(stream.messages)).toContain(lost);
}

/**
 * Whatever somebody can have open over MCP. The question comes first: a server of the legacy era does not say which of
 * several calls it asks for.
 */
const mcpWays: Readonly<Record<string, Open>> = {
  async "a question that waits for its client"(credential) {
    const { url, headers, mcp } = credential;
    const asking = await modernStream(
      url + mcp.path,
      1,
      "tools/call",
      toCall(credential, "elicit") as never,
      everything,
      headers,
    );
    const { result } = await asking.next(({ id }) => id === 1);
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.stringMatching(/^typ1\./) });
    // The request was answered: that it has ended is seen at the server.
    return { ended: Promise.resolve(), calls: 1 };
  },
  async "a stream of the modern era"({ url, headers, mcp }) {
    const wanted = { notifications: { toolsListChanged: true } };
    const stream = await modernStream(url + mcp.path, 1, "subscriptions/listen", wanted, {}, headers);
    await stream.next(({ method }) => method === "notifications/subscriptions/acknowledged");
    return { ended: until(() => stream.ended), calls: 0 };
  },
  async "the stream of a session"({ url, headers, mcp }) {
    const session = await openSession(url + mcp.path, { headers });
    const stream = await session.listen();
    expect(stream.status).toBe(200);
    return { ended: until(() => stream.ended), calls: 0 };
  },
  async "a stream of HTTP+SSE, with a call"(credential) {
    const { url, headers, mcp } = credential;
    const stream = await openSse(url + mcp.sse, headers);
    await stream.initialize();
    expect((await stream.post({ id: 1, method: "tools/call", params: toCall(credential, "hang") })).status).toBe(202);
    return { ended: until(() => stream.ended), calls: 1 };
  },
  async "a call of the modern era"(credential) {
    const { url, headers, mcp } = credential;
    const answer = modernStream(url + mcp.path, 1, "tools/call", { ...toCall(credential, "hang") }, {}, headers);
    return { ended: answer.then(refused), calls: 1 };
  },
  async "a call in a session"(credential) {
    const session = await openSession(credential.url + credential.mcp.path, { headers: credential.headers });
    const answer = session.call(1, "tools/call", toCall(credential, "hang"));
    return { ended: answer.then(refused), calls: 1 };
  },
  async "a batch"(credential) {
    const { url, headers, mcp } = credential;
    const params = toCall(credential, "hang");
    const answer = send(url + mcp.path, {
      headers: { ...headers, "content-type": "application/json", "mcp-protocol-version": "2025-03-26" },
      body: JSON.stringify([1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "tools/call", params }))),
    });
    const ended = answer.then(({ json }) => {
      const refusal = expect.objectContaining({
        error: expect.objectContaining({ message: expect.stringMatching(lost) }),
      });
      expect(json).toEqual([refusal, refusal]);
    });
    return { ended, calls: 2 };
  },
};

/** Whatever somebody can have open over REST. */
const restWays: Readonly<Record<string, Open>> = {
  async "the stream of events"({ url, headers }) {
    const stream = await openStream(`${url}/api/events`, { method: "GET", headers });
    expect(stream.status).toBe(200);
    return { ended: until(() => stream.ended), calls: 0 };
  },
  async "the stream of messages"({ url, headers }) {
    const stream = await openStream(`${url}/api/protocol`, { method: "GET", headers });
    expect(stream.status).toBe(200);
    return { ended: until(() => stream.ended), calls: 0 };
  },
  async "the status of an instance"({ url, headers, rest }) {
    const path = `/api/instances/${encodeURIComponent(rest.instance)}/status`;
    const stream = await openStream(url + path, { method: "GET", headers });
    await stream.next(({ status }) => status === "online");
    return { ended: until(() => stream.ended), calls: 0 };
  },
  async "a call over REST"({ url, headers }) {
    const answer = openStream(`${url}/execute/own%3Ahang`, {
      headers: { ...headers, accept: "application/json" },
      body: {},
    });
    const ended = answer.then(async (stream) => {
      expect(stream.status).toBe(401);
      await refused(stream);
    });
    return { ended, calls: 1 };
  },
  async "a call over REST that asks"({ url, headers }) {
    const stream = await openStream(`${url}/execute/asking%3Aelicit`, {
      headers: { ...headers, accept: "text/event-stream", "toolyard-elicitation": "form" },
      body: {},
    });
    await stream.next(({ method }) => method === "elicitation/create");
    return { ended: refused(stream), calls: 1 };
  },
};

/** Everything that a credential opens. */
export async function openAll(credential: Credential): Promise<Readonly<Record<string, Opened>>> {
  const ways = {
    ...(credential.mcp === undefined ? {} : mcpWays),
    ...(credential.rest === undefined ? {} : restWays),
  };
  const opened: Record<string, Opened> = {};
  for (const [way, open] of Object.entries(ways)) opened[way] = await open(credential as Both);
  return opened;
}
