import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { post } from "../../../test/harness/rest.ts";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleView } from "../../../test/sample-view.ts";
import { createLazyNames } from "../../catalog/model/names/lazy-names.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import type { RestDeps } from "./route.ts";
import { createExecuteHandler } from "./execute/execute-handler.ts";
import { createRestQuestions } from "../../operations/tools/asked-questions.ts";
import type { OperationRequest } from "../../operations/operation.ts";
import type { Services } from "../../operations/services.ts";
import { toolOperations } from "../../operations/tools/tool-operations.ts";

/** A view whose names take many turns, and what of REST asks for them. */
function start() {
  const tools = Array.from({ length: 200 }, (_tool, at) => ({ name: `a-${at}` }));
  const view = sampleView(Array.from({ length: 20 }, (_server, at) => sampleInstance(`s-${at}`, tools)));
  const making = createLazyNames();
  let waits = 0;
  const deps = {
    viewOf: () => view,
    namesInTurns(...asked: Parameters<typeof making>) {
      const wait = making(...asked);
      if (wait !== undefined) waits += 1;
      return wait;
    },
    authenticate: () => localPrincipal,
    toolTokens: async () => await Promise.resolve(() => ({ tokens: 1, isExact: true })),
    settings: () => ({ policy: { ask: [] } }),
    instancesOf: () => [],
    discovery: { phrasesOf: async () => await Promise.resolve([]) },
    fleet: { adopting: () => undefined },
    presence: { losses: 0, require: () => undefined },
    bodyLimits: { requestBodyBytes: 1_000, jsonDepth: 10 },
  } as unknown as RestDeps;
  return { view, deps, waits: () => waits };
}

const spellings = ["s-19:a-199", "s-19-a-199", "s_19__a-199", "s_19.a-199"];

test.each(spellings)("one tool of a large view is shown after names are made in turns: %s", async (path) => {
  const { view, deps, waits } = start();
  const operation = toolOperations.find(({ route }) => route === "GET /api/tools/{path}");
  const request = { principal: localPrincipal, params: { path } } as unknown as OperationRequest;
  const answer = (await operation?.run(deps as unknown as Services, request as never)) as { text: { bytes: Buffer } };
  expect(String(answer.text.bytes)).toContain('"path":"s-19:a-199"');
  expect(waits()).toBeGreaterThan(0);
  for (const listing of ["flat", "namespaced"] as const) expect(view.names.inSteps(listing)).toBeUndefined();
});

test.each(spellings)("a tool of a large view is looked up after names are made in turns: %s", async (name) => {
  const { view, deps, waits } = start();
  const intents: unknown[] = [];
  const performer: Pick<RestDeps["performer"], "perform"> = {
    perform(intent) {
      intents.push(intent);
      throw new GatewayError("SERVER_OFFLINE", "nobody is here");
    },
  };
  const called = { ...deps, performer, track: () => () => undefined, admit: () => () => undefined };
  const execute = createExecuteHandler(called as unknown as RestDeps, createRestQuestions());
  await using server = Object.assign(
    createServer((request, response) => void execute(request, response)),
    {
      async [Symbol.asyncDispose]() {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        // Whoever was never answered would keep it open for good.
        server.closeAllConnections();
        await closed;
      },
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { status } = await post(`http://127.0.0.1:${port}/execute/${encodeURIComponent(name)}`);
  expect(status).toBe(503);
  expect(intents).toMatchObject([{ kind: "call", tool: { path: "s-19:a-199" } }]);
  expect(waits()).toBe(1);
  expect(view.names.inSteps(undefined, name)).toBeUndefined();
});
