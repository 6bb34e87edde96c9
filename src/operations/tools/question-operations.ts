import * as z from "zod";
import { usingServers } from "../../engine/policy/rights.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

/** What a person may enter in a form that a server asks for (2025-11-25, client/elicitation). */
const entered = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

const questionAnswer = z
  .strictObject({
    action: z.enum(["accept", "decline", "cancel"]),
    content: z
      .record(z.string(), entered)
      .optional()
      .describe("With `accept`, what was entered; none for a question that leads to an address."),
  })
  .meta({ id: "QuestionAnswer" });

export const answerAsked = operation({
  route: "POST /api/questions/{id}",
  right: usingServers,
  params: z.object({ id: schemas.name }),
  id: "answerQuestion",
  tag: "Execute",
  summary: "Answer a question of a server",
  description:
    "Of a call made with `Accept: text/event-stream` and `Toolyard-Elicitation: form, url`: its stream has " +
    "events `question` (`{ id, method, params }`), and `question-over` when one needs no answer any more.",
  body: questionAnswer,
  responses: answers(z.object({ answered: z.boolean() }), "It was passed to the server.", [404, 413, 415, 429]),
  run(services, { principal, params, bytes }) {
    services.questions.answer(params.id, principal, bytes);
    return { answered: true };
  },
});

/** Answers to what servers ask in the middle of calls. */
export const questionOperations: readonly Operation[] = [answerAsked];
