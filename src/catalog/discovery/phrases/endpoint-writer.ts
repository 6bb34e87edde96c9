import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import { readAnswerText } from "../meaning/embedding-request.ts";
import {
  answerTokens,
  estimateSpent,
  phraseInstructions,
  phraseQuestion,
  readAnswer,
  UnusableAnswer,
  type PhraseWriter,
  type SpentTokens,
  type WrittenAnswer,
} from "./phrase-writer.ts";

/** An OpenAI-compatible endpoint: the base (`http://localhost:11434/v1`) or the whole URL (`.../chat/completions`). */
export interface ChatEndpoint {
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
}

/** A model on a laptop that reads a long description takes half a minute. */
const deadlineMs = 60_000;
/** Bytes of an answer that are read: far above what so many tokens take. */
const answerByteLimit = 256 * 1024;

/** Writes by a chat endpoint. Follows no redirect: the key stays here. */
export function createEndpointWriter(endpoint: ChatEndpoint): PhraseWriter {
  return {
    deadlineMs,
    write: async (tool, signal) => await requestPhrases(endpoint, tool, signal),
  };
}

async function requestPhrases(endpoint: ChatEndpoint, tool: ToolEntry, signal: AbortSignal): Promise<WrittenAnswer> {
  const question = phraseQuestion(tool);
  const response = await ask(endpoint, question, signal);
  const text = await readAnswerText(
    response,
    answerByteLimit,
    () => new UnusableAnswer(`the answer is longer than ${answerByteLimit} bytes`),
  );
  const body = parseAnswer(text);
  const content = contentOf(body);
  return readAnswer(question, content, spentOf(body, question));
}

/** Newer models of OpenAI know the limit by its second name only, everybody else by its first. */
const limitNames = ["max_tokens", "max_completion_tokens"] as const;

async function ask(endpoint: ChatEndpoint, question: string, signal: AbortSignal): Promise<Response> {
  const { model, apiKey } = endpoint;
  for (const limit of limitNames) {
    const response = await fetch(urlOf(endpoint), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        model,
        [limit]: answerTokens,
        messages: [
          { role: "system", content: phraseInstructions },
          { role: "user", content: question },
        ],
      }),
      redirect: "error",
      signal,
    });
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status !== 400) throw new Error(`the chat endpoint answered ${response.status}`);
  }
  // It refuses this request, not us: other tools may be to its liking.
  throw new UnusableAnswer("the chat endpoint answered 400");
}

function urlOf({ url }: ChatEndpoint): string {
  const base = url.replace(/\/+$/, "");
  return base.endsWith("/chat/completions") ? base : `${base}/chat/completions`;
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnusableAnswer("the chat endpoint did not answer JSON");
  }
}

function contentOf(body: unknown): string {
  const choices: unknown = isJsonObject(body) ? body["choices"] : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(first) ? first["message"] : undefined;
  const content = isJsonObject(message) ? message["content"] : undefined;
  if (typeof content !== "string") throw new UnusableAnswer("the chat endpoint answered no message");
  return content;
}

/** Undefined where the endpoint says nothing. One that tells only the sum leaves how it divides to an estimate. */
function spentOf(body: unknown, question: string): SpentTokens | undefined {
  const usage: unknown = isJsonObject(body) ? body["usage"] : undefined;
  if (!isJsonObject(usage)) return undefined;
  const prompt = toCount(usage["prompt_tokens"]);
  const answer = toCount(usage["completion_tokens"]);
  if (prompt !== undefined && answer !== undefined) return { prompt, answer, isReported: true };
  const total = toCount(usage["total_tokens"]);
  if (total === undefined) return undefined;
  const read = Math.min(total, estimateSpent(question, "").prompt);
  return { prompt: read, answer: total - read, isReported: true };
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
