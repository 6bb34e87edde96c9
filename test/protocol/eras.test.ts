import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Era } from "../../src/kernel/call/call-context.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { rpc } from "../harness/rpc.ts";
import { connectClient } from "./clients.ts";
import { startBadHttp, type HttpServer } from "./servers.ts";

const offers = ["--resources", "--prompts", "--asking"];
const clientEras: readonly Era[] = ["legacy", "modern"];
/** Server's key, and the era that it speaks. */
const servers = ["legacy-stdio", "modern-stdio", "legacy-http", "modern-http"];
const combinations = clientEras.flatMap((era) => servers.map((server) => ({ era, server })));
const accepted = { action: "accept", content: { name: "Ada" } };

let gateway: RunningGateway;
const upstreams: HttpServer[] = [];

beforeAll(async () => {
  for (const era of ["legacy", "modern"])
    upstreams.push(await startBadHttp("--era", era, "--session", "--http-sse-answers", ...offers));
  gateway = await startGateway({
    config: {
      mcpServers: {
        "legacy-stdio": { ...badServer("--era", "legacy", ...offers), roots: ["/work"] },
        "modern-stdio": { ...badServer("--era", "modern", ...offers), roots: ["/work"] },
        "legacy-http": { type: "http", url: upstreams[0]?.url, roots: ["/work"] },
        "modern-http": { type: "http", url: upstreams[1]?.url, roots: ["/work"] },
      },
    },
  });
  await until(async () => (await rpc(`${gateway.url}/mcp/flat`, "prompts/list")).json.result.prompts.length === 12);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
});

interface Text {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly isError?: boolean;
}

async function execute(
  client: Awaited<ReturnType<typeof connectClient>>["client"],
  tool_path: string,
  args: object = {},
): Promise<Text> {
  return (await client.callTool({
    name: "execute_mcp_tool",
    arguments: { tool_path, arguments: args },
  })) as unknown as Text;
}

const answerOf = ({ content }: Text): unknown => JSON.parse(content[0]?.text ?? "null");

describe.each(combinations)("a $era client in front of $server", ({ era, server }) => {
  test("MUST: an elicitation through execute_mcp_tool is answered, and names the server [basic/patterns/mrtr]", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era);
    expect(answerOf(await execute(person.client, `${server}:elicit`))).toEqual(accepted);
    expect(person.asked).toHaveLength(1);
    expect(person.asked[0]).toMatchObject({
      method: "elicitation/create",
      params: { message: `[${server}] What is your name?` },
    });
  });

  test("an elicitation at the server's own endpoint is passed as it is", async () => {
    await using person = await connectClient(`${gateway.url}/mcp/server/${server}`, era);
    const result = (await person.client.callTool({ name: "elicit", arguments: {} })) as unknown as Text;
    expect(answerOf(result)).toEqual(accepted);
    expect(person.asked[0]?.params["message"]).toBe("What is your name?");
  });

  test("an elicitation by URL is answered", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era, {
      answers: { "elicitation/create": { action: "accept" } },
    });
    expect(answerOf(await execute(person.client, `${server}:elicit-url`))).toEqual({ action: "accept" });
    expect(person.asked[0]?.params).toMatchObject({ mode: "url", url: "https://example.com/login" });
  });

  test("what the user declines is declined", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era, {
      answers: { "elicitation/create": { action: "decline" } },
    });
    expect(answerOf(await execute(person.client, `${server}:elicit`))).toEqual({ action: "decline" });
  });

  test("sampling is answered by the client, roots by the configuration", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era);
    expect(answerOf(await execute(person.client, `${server}:sample`))).toMatchObject({ content: { text: "Paris" } });
    expect(answerOf(await execute(person.client, `${server}:roots`))).toEqual({ roots: [{ uri: "file:///work" }] });
    expect(person.asked.map(({ method }) => method)).toEqual(["sampling/createMessage"]);
  });

  test("several questions, and several rounds of them, are answered within one call", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era);
    const all = JSON.stringify(answerOf(await execute(person.client, `${server}:ask-all`)));
    for (const part of ["Ada", "Paris", "file:///work"]) expect(all).toContain(part);
    expect(person.asked.map(({ method }) => method).sort()).toEqual(["elicitation/create", "sampling/createMessage"]);
    const twice = await execute(person.client, `${server}:elicit-twice`);
    expect(twice.isError ?? false).toBe(false);
    expect(person.asked).toHaveLength(4);
  });

  test("a prompt and a resource may ask as well, behind every exposure", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era);
    const prompt = await person.client.getPrompt({ name: `${server}-asking` });
    expect(JSON.stringify(prompt.messages)).toContain("Ada");
    const read = await person.client.readResource({
      uri: `toolyard://${server}/${encodeURIComponent("bad://asking")}`,
    });
    expect(JSON.stringify(read.contents)).toContain("Ada");
    await using direct = await connectClient(`${gateway.url}/mcp/server/${server}`, era);
    expect(JSON.stringify(await direct.client.getPrompt({ name: "asking" }))).toContain("Ada");
    expect(JSON.stringify(await direct.client.readResource({ uri: "bad://asking" }))).toContain("Ada");
    expect(direct.asked[0]?.params["message"]).toBe("What is your name?");
  });

  test("FAULT 49: MUST NOT: a client that did not declare it is not asked; the call says what is missing [basic/patterns/mrtr]", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era, {
      capabilities: { elicitation: { form: {} } },
    });
    for (const tool of ["sample", "elicit-url"]) {
      const said = await execute(person.client, `${server}:${tool}`).then(
        ({ content }) => content[0]?.text,
        (error: unknown) => String(error),
      );
      expect(said).toMatch(/(did|has) not declare|cannot answer/);
    }
    expect(person.asked).toEqual([]);
  });
});
