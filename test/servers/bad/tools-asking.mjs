// Tools that need the client: pushed requests in the legacy era, input_required in the modern one.
// Whether the client declared that it can answer is not looked at.

import { text } from "./content.mjs";

const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const samplingParams = {
  messages: [{ role: "user", content: text("What is the capital of France?") }],
  maxTokens: 50,
};

const questions = {
  elicit: ({ message = "What is your name?" }) => ({
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: form },
  }),
  "elicit-url": ({ url = "https://example.com/login", elicitationId = "login-1" }, era = "legacy") => ({
    method: "elicitation/create",
    // 2026-07-28 dropped the id.
    params: { mode: "url", message: "Please log in", url, ...(era === "legacy" && { elicitationId }) },
  }),
  sample: () => ({ method: "sampling/createMessage", params: samplingParams }),
  roots: () => ({ method: "roots/list", params: {} }),
};

/** @type {Record<string, import("./tools.mjs").Tool>} */
export const askingTools = {
  elicit: { description: "Asks the user for a name and returns the answer", run: askOne("elicit") },
  "elicit-url": { description: "Asks the user to open `url` (legacy: `elicitationId`)", run: askOne("elicit-url") },
  sample: { description: "Asks the client's model and returns the answer", run: askOne("sample") },
  roots: { description: "Asks for the client's roots and returns them", run: askOne("roots") },
  "ask-all": {
    description: "Asks for all three: one after the other (legacy), in one round (modern)",
    run: (exchange) => askInTurn(exchange, ["elicit", "sample", "roots"]),
  },
  "elicit-twice": {
    description: "Asks the user twice; modern: two rounds, with other state in each",
    async run(exchange) {
      if (exchange.era === "legacy") return askInTurn(exchange, ["elicit", "elicit"]);
      const { requestState, inputResponses } = exchange.params;
      if (requestState === undefined) return requireInput(exchange, { first: questions.elicit({}) }, "round-1");
      const state = openState(exchange);
      if (state === undefined) return;
      if (state === "round-1") return requireInput(exchange, { second: questions.elicit({}) }, "round-2");
      exchange.say(inputResponses);
    },
  },
  "delete-asking": {
    description: "Modern: asks which one, without a state of its own, and says what it was answered",
    run(exchange) {
      const { inputResponses } = exchange.params;
      if (inputResponses !== undefined) return exchange.say(inputResponses);
      exchange.answer({ resultType: "input_required", inputRequests: { which: questions.elicit({}) } });
    },
  },
  "url-twice": {
    description: "Modern: asks the user to open two addresses, again for the second, and answers; `fail`: with isError",
    run(exchange) {
      const { requestState, inputResponses } = exchange.params;
      const open = (url) => questions["elicit-url"]({ url }, "modern");
      const both = { a: open("https://example.com/a"), b: open("https://example.com/b") };
      if (requestState === undefined) return requireInput(exchange, both, "both");
      const state = openState(exchange);
      if (state === undefined) return;
      if (state === "both") return requireInput(exchange, { b: both.b }, "second");
      exchange.answer({ content: [text(JSON.stringify(inputResponses))], isError: exchange.args.fail === true });
    },
  },
  "elicit-url-complete": {
    description: "Legacy: asks the user to open an address, says that this is done, and that `other` is, then answers",
    async run(exchange) {
      const question = questions["elicit-url"](exchange.args);
      const answer = await askAndRead(exchange, question);
      const { elicitationId } = question.params;
      for (const id of [elicitationId, exchange.args.other])
        await exchange.notify("notifications/elicitation/complete", { elicitationId: id });
      exchange.say(answer);
    },
  },
  "complete-url": {
    description: "Legacy: says to everybody that the address `elicitationId` is done, then answers",
    run({ server, args, say }) {
      server.announce("notifications/elicitation/complete", { elicitationId: args.elicitationId });
      say("announced");
    },
  },
  "elicit-and-take-back": {
    description: "Legacy: asks the user, takes the question back at once, then answers",
    async run(exchange) {
      const id = `taken-back-${exchange.id}`;
      const { method, params } = questions.elicit(exchange.args);
      await exchange.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      await exchange.notify("notifications/cancelled", { requestId: id, reason: "never mind" });
      exchange.say("taken back");
    },
  },
  "sample-with-progress": {
    description: "Legacy: asks the client's model with the progress token `token`, and returns the answer",
    async run(exchange) {
      const { method, params } = questions.sample(exchange.args);
      const _meta = { progressToken: exchange.args.token };
      const { result, error } = await exchange.ask(method, { ...params, _meta });
      exchange.say(result ?? error);
    },
  },
  "elicit-then-progress": {
    description: "Legacy: asks the user, reports progress once it knows, then answers",
    async run(exchange) {
      const answer = await askAndRead(exchange, questions.elicit(exchange.args));
      const { progressToken } = exchange.params._meta ?? {};
      await exchange.notify("notifications/progress", { progressToken, progress: 1 });
      exchange.say(answer);
    },
  },
  "ask-for-ever": {
    description: "Modern: asks again, whatever it is told",
    run: (exchange) => requireInput(exchange, { again: questions.elicit({}) }, `round-${exchange.server.calls}`),
  },
  "state-only": {
    description: "Modern: answers input_required with state and no question, then with the result",
    run(exchange) {
      if (exchange.params.requestState === undefined) return requireInput(exchange, undefined, "state-only");
      if (openState(exchange) !== undefined) exchange.say("state came back");
    },
  },
  push: {
    description:
      "Pushes the request `method` (ping) with `params`, whatever the era forbids, and returns what comes back within `ms` (1000)",
    async run(exchange) {
      const { method = "ping", params = {}, ms = 1_000 } = exchange.args;
      const silence = new Promise((resolve) => setTimeout(resolve, ms, "nothing came back"));
      exchange.say(await Promise.race([exchange.ask(method, params), silence]));
    },
  },
  "needs-sampling": {
    description: "Answers -32021: the client lacks a capability",
    run: ({ fail }) => fail(-32021, "Sampling is needed", { requiredCapabilities: { sampling: {} } }),
  },
  "needs-url": {
    description: "Answers -32042: a URL has to be visited first (2025-11-25)",
    run({ fail, args }) {
      const { params } = questions["elicit-url"](args);
      fail(-32042, "Please log in first", { elicitations: [params] });
    },
  },
};

function askOne(kind) {
  return async (exchange) => {
    const answer = await askFor(exchange, kind);
    if (answer !== undefined) exchange.say(answer);
  };
}

/** For what is no tool: the user's answer, or undefined when the exchange has been answered with the question. */
export const askForName = (exchange) => askFor(exchange, "elicit");

async function askFor(exchange, kind) {
  const question = questions[kind](exchange.args, exchange.era);
  if (exchange.era === "legacy") return askAndRead(exchange, question);
  const answer = exchange.params.inputResponses?.answer;
  if (answer !== undefined) return openState(exchange) === undefined ? undefined : answer;
  requireInput(exchange, { answer: question }, kind);
  return undefined;
}

async function askInTurn(exchange, kinds) {
  if (exchange.era === "modern") {
    const responses = exchange.params.inputResponses;
    const asked = Object.fromEntries(kinds.map((kind) => [kind, questions[kind]({})]));
    return responses === undefined ? requireInput(exchange, asked, "ask-all") : exchange.say(responses);
  }
  const answers = [];
  for (const kind of kinds) answers.push(await askAndRead(exchange, questions[kind]({})));
  exchange.say(answers);
}

async function askAndRead(exchange, { method, params }) {
  const { result, error } = await exchange.ask(method, params);
  return result ?? { error };
}

function requireInput(exchange, inputRequests, state) {
  if (exchange.era === "legacy") {
    return exchange.answer({ content: [text("only in the modern era")], isError: true });
  }
  const requestState = exchange.server.sealState(state);
  exchange.answer({
    resultType: "input_required",
    ...(inputRequests && { inputRequests }),
    requestState,
  });
}

/** The state that this process sealed; anything else is refused with -32602, and undefined. */
function openState(exchange) {
  const { requestState = "" } = exchange.params;
  const state = String(requestState).slice(0, String(requestState).lastIndexOf("."));
  if (requestState === exchange.server.sealState(state)) return state;
  exchange.fail(-32602, "requestState was altered", { reason: "invalid_request_state" });
  return undefined;
}
