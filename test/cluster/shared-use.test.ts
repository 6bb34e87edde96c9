import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { rpc } from "../harness/rpc.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

describe.skipIf(hasNoPostgres)("what people use at several nodes", () => {
  let nodes: Nodes;
  let one: RunningGateway;
  let two: RunningGateway;
  beforeAll(async () => {
    nodes = await startNodes();
    const settings = { limits: { concurrentCalls: 6 } };
    [one, two] = [await nodes.start("one", { settings }), await nodes.start("two", { settings })];
  });
  afterAll(async () => await nodes[Symbol.asyncDispose]());

  const isRefused = async (): Promise<boolean> =>
    await callAt(two, "count").then(
      () => false,
      (error: Error) => error.message.includes("RATE_LIMITED"),
    );

  function fill(): Promise<unknown> {
    const sleeping = [1, 2, 3, 4, 5, 6].map(async (id) => await callAt(one, "sleep", { ms: 8_000, id: `s${id}` }));
    return Promise.allSettled(sleeping);
  }

  test("a namespace that is loaded at one node is in the lists of the other", async () => {
    const listed = async ({ url }: RunningGateway): Promise<readonly string[]> => {
      const { json } = await rpc(`${url}/mcp/namespaces`, "tools/list");
      return json.result.tools.map(({ name }: { readonly name: string }) => name);
    };
    expect(await listed(two)).not.toContain("effects__count");
    await rpc(`${one.url}/mcp/namespaces`, "tools/call", { name: "effects__list_tools", arguments: {} });
    expect(await listed(two)).toContain("effects__count");
    expect(await listed(one)).toContain("effects__count");
  });

  test("a person who has as many at one node as are allowed is refused at the other, until they end", async () => {
    const all = fill();
    await until(isRefused);
    await all;
    await until(async () => !(await isRefused()));
  });

  test("what ran at a node that was killed counts no more", async () => {
    const all = fill();
    await until(isRefused);
    await one.stop("SIGKILL");
    await all;
    await until(async () => !(await isRefused()));
  });
});
