import * as v from "valibot";
import { phraseLengthLimit, phraseLimit } from "../../kernel/call/tool-phrases.ts";
import { filledText } from "../file/check.ts";
import { other } from "./setting-row.ts";

const phrase = v.pipe(filledText, v.maxLength(phraseLengthLimit, `expected at most ${phraseLengthLimit} characters`));
const phraseList = v.pipe(
  v.array(phrase),
  v.maxLength(phraseLimit, `expected at most ${phraseLimit} phrases per tool`),
);

/** `tools.phrases` of an entry. */
export const toolPhrases = other({
  fallback: {},
  schema: v.record(v.string(), phraseList),
  json: {
    type: "object",
    additionalProperties: {
      type: "array",
      items: { type: "string", minLength: 1, maxLength: phraseLengthLimit },
      maxItems: phraseLimit,
    },
  },
  type: `object of lists of texts, at most ${phraseLimit} of ${phraseLengthLimit} characters per tool`,
  about:
    "what people say when they need a tool, by the server's own names; in place of `toolyard/phrases` of the " +
    "server, which an empty list silences",
  reason: "search finds the tool by these words too; none of them can outweigh what other tools are called",
  example: { create_issue: ["report a bug", "tell the developers that it crashed"] },
});
