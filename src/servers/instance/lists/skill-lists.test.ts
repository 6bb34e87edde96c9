import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { toJsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { Connection, UpstreamRequest } from "../../upstream/connection.ts";
import { fetchLists } from "./lists.ts";

const skill = (name: string): object => ({ uri: `skill://${name}/SKILL.md`, frontmatter: { name } });
const tools = { tools: [{ name: "one" }] };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server that declares skills, and answers skills/list in this way. */
function serverWith(answer: (request: UpstreamRequest, page: number) => unknown): Connection {
  let page = 0;
  const peer = {
    serverInfo: {},
    instructions: undefined,
    capabilities: { extensions: { "io.modelcontextprotocol/skills": {} } },
    eras: ["legacy"],
  };
  return {
    peer,
    async request(request: UpstreamRequest) {
      if (request.method === "tools/list") return { kind: "result", result: toJsonBytes(tools) };
      const given = await answer(request, (page += 1));
      return { kind: "result", result: toJsonBytes(given) };
    },
  } as unknown as Connection;
}

async function fetch(connection: Connection, signal = new AbortController().signal) {
  const cuts: string[] = [];
  const limits = { pages: 10, items: 5_000, timeoutMs: 60_000 };
  const options = {
    transport: "stdio",
    limits,
    onCut: (list: string, why: string) => cuts.push(`${list}: ${why}`),
  } as const;
  return { lists: await fetchLists(connection, options, signal), cuts };
}

/** Answers never; gives up with the signal. */
const hang = async ({ signal }: UpstreamRequest): Promise<never> =>
  await new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

describe("a server's skills", () => {
  test("keep its tools waiting for ten seconds at most, and what came until then is kept", async () => {
    const fetching = fetch(
      serverWith((request, page) => (page === 1 ? { skills: [skill("a")], nextCursor: "2" } : hang(request))),
    );
    await vi.advanceTimersByTimeAsync(10_000);
    const { lists, cuts } = await fetching;
    expect(lists.skills).toEqual([skill("a")]);
    expect(lists.tools).toEqual(tools.tools);
    expect(cuts).toEqual(["skills/list: 10000 ms have passed"]);
  });

  test("may fail without harm to its other lists", async () => {
    const { lists, cuts } = await fetch(serverWith(() => "no object"));
    expect(lists.tools).toEqual(tools.tools);
    expect(lists.skills).toEqual([]);
    expect(cuts).toEqual([expect.stringContaining("skills/list")]);
  });

  test("are not asked for where it declares none", async () => {
    const silent = serverWith(() => expect.unreachable("asked"));
    const { lists } = await fetch({ ...silent, peer: { ...silent.peer, capabilities: {} } });
    expect(lists.skills).toEqual([]);
  });

  test("are told where one of them is larger than anything that people write", async () => {
    const skills = [{ ...skill("a"), note: "x".repeat(300_000) }, skill("b")];
    const { lists, cuts } = await fetch(serverWith(() => ({ skills })));
    expect(lists.skills).toHaveLength(1);
    expect(cuts).toEqual([expect.stringContaining("is left out, because it has more than 262144 bytes")]);
  });

  test("end with what fits eight million bytes", async () => {
    const large = (name: string): object => ({ ...skill(name), note: "x".repeat(250_000) });
    const skills = Array.from({ length: 40 }, (_, at) => large(`s${at}`));
    const { lists, cuts } = await fetch(serverWith(() => ({ skills })));
    expect(lists.skills).toHaveLength(33);
    expect(cuts).toEqual([expect.stringContaining("more than 8388608 bytes")]);
  });

  test("do not hide that the connection was lost, or that nobody wants the lists any more", async () => {
    const lost = new GatewayError("UPSTREAM_CLOSED", "gone");
    await expect(fetch(serverWith(() => Promise.reject(lost)))).rejects.toBe(lost);
    const given = new AbortController();
    const fetching = fetch(serverWith(hang), given.signal);
    const ended = new Error("removed");
    given.abort(ended);
    await expect(fetching).rejects.toBe(ended);
  });

  test("leave no timer behind", async () => {
    await fetch(serverWith(() => ({ skills: [] })));
    expect(vi.getTimerCount()).toBe(0);
  });
});
