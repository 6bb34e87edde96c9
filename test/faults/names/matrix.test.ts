import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../../harness/gateway.ts";
import { rpc } from "../../harness/rpc.ts";
import { startFaulty, untilOnline, type FaultyGateway } from "../servers/faulty-gateway.ts";

/**
 * Five separators that a slug may hold, in five places: whatever is joined with whatever, it could be cut in several
 * ways.
 */
const slugs = ["-", ".", "_", "__", "_1mcp_"].flatMap((mark) => [
  `a${mark}b`,
  `a${mark}b${mark}c`,
  `b${mark}c`,
  `a${mark}`,
  `b${mark}${mark}c${mark}d`,
]);
/** The same for tools, with the separators that a slug may not hold. */
const tools = ["-", ":", "|", "/", "__"].flatMap((mark) => [
  `b${mark}c`,
  `c`.repeat(mark.length + 1) + mark,
  `${mark}c`,
  `b${mark}c${mark}d`,
  `b.c${mark}_1mcp_c`,
]);

const pairs = slugs.flatMap((slug) => tools.map((tool) => ({ slug, tool })));

interface Canary {
  readonly server: string;
  readonly tool: string;
}

describe("25 servers with 25 tools each, whose names could be cut anywhere", () => {
  let gateway: FaultyGateway;

  beforeAll(async () => {
    const flags = tools.map((tool) => `--tool-name=${tool}`);
    gateway = await startFaulty({
      servers: Object.fromEntries(
        slugs.map((slug) => [slug, badServer("--server-name", slug, "--only-canaries", ...flags)]),
      ),
    });
    await untilOnline(gateway, ...slugs);
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  });

  /** What a call by this spelling reached, or the paths that its error names. */
  async function reach(endpoint: string, name: string): Promise<Canary | readonly string[]> {
    const { result } = (await rpc(`${gateway.url}${endpoint}`, "tools/call", { name, arguments: {} })).json;
    if (result.isError !== true)
      return { server: result.structuredContent.server, tool: result.structuredContent.tool };
    const failure = JSON.parse(result.content[0].text);
    expect(failure.code, name).toBe("TOOL_AMBIGUOUS");
    return failure.tool_paths;
  }

  const expectOwn = (
    reached: Canary | readonly string[],
    { slug, tool }: { slug: string; tool: string },
    spelling: string,
  ): void => {
    expect(reached, spelling).toEqual({ server: slug, tool });
  };

  test("FAULT 53: there are 625 pairs", () => {
    expect(new Set(slugs).size).toBe(25);
    expect(new Set(tools).size).toBe(25);
    expect(pairs).toHaveLength(625);
  });

  test("FAULT 53: every path leads to its own tool", async () => {
    for (const pair of pairs)
      expectOwn(await reach("/mcp", `${pair.slug}:${pair.tool}`), pair, `${pair.slug}:${pair.tool}`);
    await gateway.stillServes();
  });

  test("FAULT 53: every name that a list shows leads to exactly one tool, each to another", async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const { result } = (await rpc(`${gateway.url}/mcp/flat`, "tools/list", cursor === undefined ? {} : { cursor }))
        .json;
      names.push(
        ...result.tools.map((tool: { name: string }) => tool.name).filter((name: string) => !name.startsWith("good-")),
      );
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(names).size).toBe(625);
    const reached = new Set<string>();
    for (const name of names) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const canary = await reach("/mcp/flat", name);
      expect(Array.isArray(canary), name).toBe(false);
      reached.add(JSON.stringify(canary));
    }
    expect([...reached].sort()).toEqual(pairs.map(({ slug, tool }) => JSON.stringify({ server: slug, tool })).sort());
    await gateway.stillServes();
  });

  test("FAULT 53: a plain spelling leads to the tool that it means, or names every tool that it could mean", async () => {
    let own = 0;
    for (const pair of pairs) {
      const { slug, tool } = pair;
      for (const spelling of [`${slug}-${tool}`, `${slug}.${tool}`, `${slug}__${tool}`]) {
        if (!/^[A-Za-z0-9_.-]{1,64}$/.test(spelling)) continue;
        const { result } = (await rpc(`${gateway.url}/mcp`, "tools/call", { name: spelling, arguments: {} })).json;
        if (result.isError === true) {
          const failure = JSON.parse(result.content[0].text) as { code: string; tool_paths?: string[] };
          // A namespace is in snake case: some of these spellings are nobody's.
          expect(["TOOL_AMBIGUOUS", "TOOL_UNKNOWN"], spelling).toContain(failure.code);
          if (failure.code === "TOOL_AMBIGUOUS") expect(failure.tool_paths?.length ?? 0, spelling).toBeGreaterThan(1);
          continue;
        }
        const reached = result.structuredContent as Canary;
        // What was reached has that very spelling in one of the forms: nothing was guessed.
        const snake = reached.server.replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
        expect(
          [`${reached.server}-${reached.tool}`, `${snake}__${reached.tool}`, `${snake}.${reached.tool}`],
          spelling,
        ).toContain(spelling);
        own += 1;
      }
    }
    expect(own).toBeGreaterThan(0);
    await gateway.stillServes();
  });
});
