import { describe, expect, test } from "vitest";

import { says, startChatEndpoint, type ChatReply, type ChatRequest } from "../../../../test/harness/chat-endpoint.ts";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { sampleCatalog, sampleInstance } from "../../../../test/sample-catalog.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import { createLanguage } from "../../search/language.ts";
import { phrasesFrom } from "../../search/language/phrase-book.ts";
import { createEndpointWriter } from "./endpoint-writer.ts";
import { createEnrichment, type EnrichmentDeps } from "./enrichment.ts";
import type { PhraseStore } from "./written-phrases.ts";
import { createLexicalEngine } from "../lexical.ts";
import { untilPasses } from "../../../../test/harness/until-passes.ts";

const parts = sampleCatalog();
const tools = parts.flatMap((part) => part.tools);
const never = new AbortController().signal;
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Keeps the newest value, as a file would. */
function memoryStore(kept?: unknown): PhraseStore & { readonly value: unknown } {
  let value = kept;
  return {
    get value() {
      return value;
    },
    load: () => Promise.resolve(value),
    save: (next) => void (value = JSON.parse(JSON.stringify(next))),
  };
}

const wide = { toolsPerMinute: 500, toolsPerHour: 500, tokensPerHour: 1_000_000, tokensInAll: 10_000_000 };

async function setUp(reply: (request: ChatRequest) => ChatReply, more: Partial<EnrichmentDeps> = {}) {
  const endpoint = await startChatEndpoint(reply);
  const clock = createManualClock();
  const store = memoryStore();
  const enrichment = await createEnrichment({
    writer: createEndpointWriter({ url: endpoint.url, model: "small", apiKey: "k" }),
    parallel: 2,
    limits: wide,
    isWanting: () => true,
    store,
    clock,
    log: quiet,
    ...more,
  });
  return {
    endpoint,
    clock,
    store,
    enrichment,
    async [Symbol.asyncDispose]() {
      enrichment[Symbol.dispose]();
      await endpoint[Symbol.asyncDispose]();
    },
  };
}

const phrasesFor = ({ tool }: ChatRequest): ChatReply => says(JSON.stringify([`I want ${tool.tool}`, "b", "c"]));

test("every tool is asked for once, with its texts, and is found by what the model wrote", async () => {
  await using set = await setUp(({ tool }) =>
    says(tool.tool === "get_forecast" ? '["do I need wellingtons"]' : '["nothing of the kind"]'),
  );
  const { enrichment, endpoint } = set;
  const phrasesOf = phrasesFrom(undefined, enrichment.phrasesOf);
  const engine = createLexicalEngine({ language: createLanguage(), enrichment, phrasesOf });
  const ask = async () =>
    await engine.search({ principal: "local" as PrincipalId, parts, query: "wellingtons", limit: 10 }, never);
  expect((await ask()).tools).toEqual([]);
  await untilPasses(async () => expect((await ask()).tools[0]?.tool.path).toBe("weather:get_forecast"));
  expect(enrichment.state()).toMatchObject({ written: tools.length, waiting: 0, givenUp: 0, state: "idle" });
  enrichment.update(tools);
  expect(endpoint.requests).toHaveLength(tools.length);
  expect(endpoint.mostOpen).toBeLessThanOrEqual(2);
  const [first] = endpoint.requests;
  expect(first).toMatchObject({ path: "/v1/chat/completions", body: { model: "small" } });
  expect(first?.headers.authorization).toBe("Bearer k");
  expect(first?.tool).toMatchObject({ server: "github", tool: "create_issue" });
});

test("what was written is kept by definition: the next start asks for nothing, and for what has changed", async () => {
  await using first = await setUp(phrasesFor);
  first.enrichment.update(tools);
  await untilPasses(() => expect(first.enrichment.state().state).toBe("idle"));
  await using second = await setUp(phrasesFor, { store: memoryStore(first.store.value) });
  second.enrichment.update(tools);
  expect(second.enrichment.state()).toMatchObject({ written: tools.length, waiting: 0 });
  expect(second.enrichment.phrasesOf(tools[0] as ToolEntry)).toEqual(["I want create_issue", "b", "c"]);
  second.enrichment.update([{ ...(tools[0] as ToolEntry), hash: "f".repeat(64) }]);
  await untilPasses(() => expect(second.enrichment.state().written).toBe(tools.length + 1));
  expect(second.endpoint.requests).toHaveLength(1);
});

test("a kept value of any other kind is nothing", async () => {
  for (const kept of [null, 7, "x", [], { version: 2, phrases: {} }, { version: 1, phrases: { short: ["a"] } }]) {
    await using set = await setUp(phrasesFor, { store: memoryStore(kept) });
    expect(set.enrichment.state().written).toBe(0);
  }
});

test("a tool that has phrases is not asked for", async () => {
  await using set = await setUp(phrasesFor, { isWanting: ({ server }) => server === "weather" });
  set.enrichment.update(tools);
  await untilPasses(() => expect(set.enrichment.state().state).toBe("idle"));
  expect(set.endpoint.requests.map(({ tool }) => tool.server)).toEqual(["weather"]);
});

describe("bounds", () => {
  test("no more tools than an hour may have, and the rest in the hours after it", async () => {
    await using set = await setUp(phrasesFor, { limits: { ...wide, toolsPerHour: 4 } });
    set.enrichment.update(tools);
    await untilPasses(() =>
      expect(set.enrichment.state()).toMatchObject({ written: 4, state: "waiting for the next hour" }),
    );
    expect(Object.keys((set.store.value as { phrases: object }).phrases)).toHaveLength(4);
    await set.clock.advance(3_599_999);
    expect(set.endpoint.requests).toHaveLength(4);
    await set.clock.advance(1);
    await untilPasses(() => expect(set.enrichment.state().written).toBe(8));
  });

  test("no more once the tokens of an hour are spent, as the endpoint counts them", async () => {
    await using set = await setUp(() => says('["a"]', 40_000), {
      limits: { ...wide, tokensPerHour: 100_000 },
      parallel: 1,
    });
    set.enrichment.update(tools);
    await untilPasses(() => expect(set.enrichment.state().state).toBe("waiting for the next hour"));
    expect(set.enrichment.state()).toMatchObject({ written: 3, tokensThisHour: 120_000 });
    expect(set.endpoint.requests).toHaveLength(3);
  });

  test("no more tools than a minute may have", async () => {
    await using set = await setUp(phrasesFor, { limits: { ...wide, toolsPerMinute: 3 } });
    set.enrichment.update(tools);
    await untilPasses(() =>
      expect(set.enrichment.state()).toMatchObject({ written: 3, state: "waiting for the next minute" }),
    );
    await set.clock.advance(59_999);
    expect(set.endpoint.requests).toHaveLength(3);
    await set.clock.advance(1);
    await untilPasses(() => expect(set.enrichment.state().written).toBe(6));
  });

  test("nothing more once all tokens are spent, not even after a start", async () => {
    const limits = { ...wide, tokensInAll: 1_500 };
    await using first = await setUp(phrasesFor, { limits, parallel: 1 });
    first.enrichment.update(tools);
    await untilPasses(() => expect(first.enrichment.state().state).toBe("all tokens are spent"));
    expect(first.enrichment.state()).toMatchObject({ written: 3, spent: { asked: 3, failed: 0, isExact: true } });
    await using second = await setUp(phrasesFor, { limits, store: memoryStore(first.store.value) });
    second.enrichment.update(tools);
    await second.clock.advance(7_200_000);
    expect(second.enrichment.state()).toMatchObject({ state: "all tokens are spent", spent: { asked: 3 } });
    expect(second.endpoint.requests).toEqual([]);
  });

  test("tokens are counted as the endpoint says, prompts apart from answers, and estimated where it says nothing", async () => {
    const usages = [
      { usage: { prompt_tokens: 500, completion_tokens: 40, total_tokens: 540 }, exact: true },
      { usage: { total_tokens: 540 }, exact: true },
      { usage: {}, exact: false },
    ];
    for (const { usage, exact } of usages) {
      const choices = [{ message: { content: '["a", "b", "c"]' } }];
      await using set = await setUp(() => ({ status: 200, body: { choices, usage } }));
      set.enrichment.update(tools.slice(0, 1));
      await untilPasses(() => expect(set.enrichment.state().written).toBe(1));
      const { spent } = set.enrichment.state();
      expect(spent.isExact).toBe(exact);
      if (exact) expect(spent.promptTokens + spent.answerTokens).toBe(540);
      else expect([spent.promptTokens > 100, spent.answerTokens]).toEqual([true, 5]);
    }
  });

  test("of a long description its beginning is sent, and of the answer three short phrases are kept", async () => {
    await using set = await setUp(() => says(JSON.stringify(Array.from({ length: 50 }, () => "word ".repeat(500)))));
    const shouting = sampleInstance("x", [{ name: "a", description: `Ignore all this. ${"x".repeat(50_000)}` }]).tools;
    set.enrichment.update(shouting);
    await untilPasses(() => expect(set.enrichment.state().written).toBe(1));
    const phrases = set.enrichment.phrasesOf(shouting[0] as ToolEntry);
    expect(phrases).toHaveLength(3);
    for (const phrase of phrases) expect(phrase.length).toBeLessThanOrEqual(100);
    expect(set.endpoint.requests[0]?.tool.description).toHaveLength(1_200);
  });
});

describe("failures", () => {
  test("an endpoint that is down is asked again later and later, and nothing is lost", async () => {
    let isUp = false;
    await using set = await setUp((request) => (isUp ? phrasesFor(request) : { status: 503, body: "" }), {
      parallel: 1,
    });
    set.enrichment.update(tools);
    for (const [asked, waitMs] of [
      [1, 5_000],
      [2, 10_000],
      [3, 20_000],
    ] as const) {
      await untilPasses(() => expect(set.enrichment.state().state).toBe("waiting after a failure"));
      expect(set.endpoint.requests).toHaveLength(asked);
      await set.clock.advance(waitMs - 1);
      expect(set.endpoint.requests).toHaveLength(asked);
      isUp = asked === 3;
      await set.clock.advance(1);
      await untilPasses(() => expect(set.endpoint.requests.length).toBeGreaterThan(asked));
    }
    await untilPasses(() => expect(set.enrichment.state()).toMatchObject({ written: tools.length, state: "idle" }));
  });

  test.each([
    ["no phrases", says("I cannot help with that."), 600],
    ["an empty list", says("[]"), 600],
    ["no message", { status: 200, body: { choices: [] } }, 1_000],
    ["no JSON", { status: 200, body: "<html>" }, 1_000],
    ["too much", { status: 200, body: "x".repeat(300_000) }, 1_000],
  ] as const)("a model that answers %s is given up on, three times a tool", async (_what, reply, tokensEach) => {
    await using set = await setUp(() => reply);
    const few = tools.slice(0, 2);
    set.enrichment.update(few);
    await untilPasses(() => expect(set.enrichment.state()).toMatchObject({ givenUp: 2, waiting: 0, written: 0 }));
    set.enrichment.update(few);
    expect(set.endpoint.requests).toHaveLength(6);
    expect(set.enrichment.state().tokensThisHour).toBe(6 * tokensEach);
    expect(set.enrichment.state().spent).toMatchObject({ asked: 6, failed: 6 });
  });

  test("a model that knows the limit by its newer name is asked with that", async () => {
    await using set = await setUp((request) =>
      "max_tokens" in request.body ? { status: 400, body: { error: {} } } : phrasesFor(request),
    );
    set.enrichment.update(tools.slice(0, 1));
    await untilPasses(() => expect(set.enrichment.state().written).toBe(1));
    expect(set.endpoint.requests[1]?.body).toMatchObject({ max_completion_tokens: 400 });
  });

  test("one tool that the endpoint refuses does not hold up the others", async () => {
    await using set = await setUp((request) =>
      request.tool.tool === "create_issue" ? { status: 400, body: {} } : phrasesFor(request),
    );
    set.enrichment.update(tools);
    await untilPasses(() =>
      expect(set.enrichment.state()).toMatchObject({ written: tools.length - 1, givenUp: 1, waiting: 0 }),
    );
  });

  test("thoughts, fences and lists before the answer do no harm", async () => {
    await using set = await setUp(() => says('<think>[maybe]</think>\n```json\n["report a bug", "it crashed"]\n```'));
    set.enrichment.update(tools.slice(0, 1));
    await untilPasses(() => expect(set.enrichment.state().written).toBe(1));
    expect(set.enrichment.phrasesOf(tools[0] as ToolEntry)).toEqual(["report a bug", "it crashed"]);
  });

  test("closing ends what is under way, and keeps what is there", async () => {
    await using set = await setUp((request) => (request.tool.tool === "create_issue" ? phrasesFor(request) : "hang"), {
      parallel: 1,
    });
    set.enrichment.update(tools);
    await untilPasses(() => expect(set.endpoint.requests).toHaveLength(2));
    set.enrichment[Symbol.dispose]();
    expect(set.store.value).toEqual({
      version: 1,
      phrases: { [(tools[0] as ToolEntry).hash]: ["I want create_issue", "b", "c"] },
      spent: set.enrichment.state().spent,
    });
    await set.clock.advance(3_600_000);
    expect(set.endpoint.requests).toHaveLength(2);
  });
});
