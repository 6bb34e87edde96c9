import { text as plainText } from "../file/check.ts";
import { needed, number, optionalGroup, text } from "./setting-row.ts";
import { webUrl } from "../words/web-names.ts";

/** `search.enrich`. */
export const enrichRows = optionalGroup(
  "a model that writes, once per tool, what people say when they need it; not used unless this object is " +
    "written. It is sent names and descriptions of tools, never a query",
  {
    url: needed(
      text({
        fallback: undefined,
        fallbackText: "none: required",
        schema: webUrl,
        pattern: /^https?:\/\//i,
        type: "http:// or https:// URL",
        about: "the address of an OpenAI-compatible chat endpoint",
        example: "https://models.example.com/v1/chat/completions",
        isReadAtStart: true,
      }),
    ),
    model: needed(
      text({
        fallback: undefined,
        fallbackText: "none: required",
        about: "the model's name",
        example: "llama3.2",
        isReadAtStart: true,
      }),
    ),
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
);
