import { text as plainText } from "./check.ts";
import { needed, number, optionalGroup, text } from "./setting-row.ts";
import { webUrl } from "./web-names.ts";

/** `search.enrich`. */
export const enrichRows = optionalGroup(
  "an OpenAI-compatible chat model that writes, once per tool, what people say when they need it; not used unless this " +
    "object is written. It is sent names and descriptions of tools, never a query",
  {
    url: needed(
      text({
        fallback: undefined,
        fallbackText: "none: required",
        schema: webUrl,
        pattern: /^https?:\/\//i,
        type: "http:// or https:// URL",
        about: "the endpoint's address",
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
      about: "tokens, as the endpoint counts them, after which nothing more is asked within an hour",
      reason: "a tool takes about 600",
      isReadAtStart: true,
    }),
  },
);
