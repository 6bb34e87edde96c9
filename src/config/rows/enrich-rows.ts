import { text as plainText } from "../file/check.ts";
import { choice, number, optionalGroup, text, type GroupRule } from "./setting-row.ts";
import { webUrl } from "../words/web-names.ts";

/** An endpoint has an address and a model; a client brings its own. */
const endpointIsNamed: GroupRule = {
  holds: ({ from, url, model }) => from === "client" || (url !== undefined && model !== undefined),
  message: 'expected `url` and `model` of an endpoint, or `from: "client"`',
  json: {
    anyOf: [
      { required: ["url", "model"], properties: { url: {}, model: {} } },
      { required: ["from"], properties: { from: { not: { const: "endpoint" } } } },
    ],
  },
};

/** `search.enrich`. */
export const enrichRows = optionalGroup(
  "a model that writes, once per tool, what people say when they need it; not used unless this object is written. It is " +
    "sent names and descriptions of tools, never a query",
  {
    from: choice({
      choices: ["endpoint", "client"],
      fallback: "endpoint",
      about:
        "who writes: an OpenAI-compatible chat endpoint, or the model of the connected client, by MCP sampling. A client " +
        "is asked only while this gateway has no `principals`, only if it declares sampling, and only in revisions up to " +
        "2025-11-25; it may ask its person every time",
      reason: "tokens of somebody's own model are spent only where it is written here",
      isReadAtStart: true,
    }),
    url: text({
      fallback: undefined,
      fallbackText: "none: required for an endpoint",
      schema: webUrl,
      pattern: /^https?:\/\//i,
      type: "http:// or https:// URL",
      about: "the endpoint's address",
      example: "https://models.example.com/v1/chat/completions",
      isReadAtStart: true,
    }),
    model: text({
      fallback: undefined,
      fallbackText: "none: required for an endpoint",
      about: "the model's name",
      example: "llama3.2",
      isReadAtStart: true,
    }),
    apiKey: text({
      fallback: undefined,
      schema: plainText,
      about: "the key that is sent as a bearer token",
      example: "${CHAT_KEY}",
      isReadAtStart: true,
    }),
    parallel: number({
      fallback: 2,
      min: 1,
      max: 16,
      about: "tools that are asked for at the same time",
      reason: "a model on the same machine answers few at once",
      isReadAtStart: true,
    }),
    toolsPerMinute: number({
      fallback: 30,
      min: 1,
      max: 10_000,
      about: "tools that are asked for within a minute",
      reason: "a model that somebody works with has to have time for that",
      isReadAtStart: true,
    }),
    toolsPerHour: number({
      fallback: 500,
      min: 1,
      max: 20_000,
      about: "tools that are asked for within an hour",
      reason: "a usual installation is done at once, and a mistake costs little",
      isReadAtStart: true,
    }),
    tokensPerHour: number({
      fallback: 500_000,
      min: 1_000,
      max: 100_000_000,
      about: "tokens after which nothing more is asked within an hour",
      reason: "a tool takes about 600",
      isReadAtStart: true,
    }),
    tokensInAll: number({
      fallback: 5_000_000,
      min: 1_000,
      max: 10_000_000_000,
      about: "tokens after which nothing is asked any more; what was spent before the last start counts",
      reason: "enough for 8,000 tools; `toolyard tokens` says what was spent",
      isReadAtStart: true,
    }),
  },
  endpointIsNamed,
);
