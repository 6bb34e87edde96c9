import type { Answer } from "../../../kernel/call/call-context.ts";
import { isJsonObject, parseJsonObject, toJsonBytes, type JsonBytes } from "../../../kernel/text/json-bytes.ts";
import {
  answerTokens,
  estimateSpent,
  NobodyToAsk,
  phraseInstructions,
  phraseQuestion,
  readAnswer,
  UnusableAnswer,
  type PhraseWriter,
} from "./phrase-writer.ts";

/** Connected clients that lend their model, one at a time. */
export interface SamplingClients {
  isReady(): boolean;
  onReady(callback: () => void): () => void;
  /**
   * Asks one of them `sampling/createMessage`. One that answers with an error, or that has not answered when the signal
   * aborts, is not asked again. Rejects with the signal's reason, and when there is no client, or it has left.
   */
  ask(params: JsonBytes, signal: AbortSignal): Promise<Answer>;
}

/** The client may ask its person first. */
const deadlineMs = 300_000;
/** Bytes of an answer that are read: far above what so many tokens take. */
const answerByteLimit = 256 * 1024;

/** Writes by the model of a connected client (2025-11-25, client/sampling). */
export function createClientWriter(clients: SamplingClients): PhraseWriter {
  return {
    deadlineMs,
    isReady: () => clients.isReady(),
    onReady: (callback) => clients.onReady(callback),
    async write(tool, signal) {
      const question = phraseQuestion(tool);
      const answer = await clients.ask(toParams(question), signal).catch((error: unknown) => {
        throw new NobodyToAsk(String(error));
      });
      if (answer.kind === "error") throw new NobodyToAsk("the client refused");
      return readAnswer(question, textOf(answer.result, question));
    },
  };
}

function toParams(question: string): JsonBytes {
  return toJsonBytes({
    messages: [{ role: "user", content: { type: "text", text: question } }],
    systemPrompt: phraseInstructions,
    includeContext: "none",
    maxTokens: answerTokens,
    // Any model can do this, and there may be many tools.
    modelPreferences: { costPriority: 1, speedPriority: 0.5, intelligencePriority: 0.1 },
  });
}

/** One content block, or, since 2025-11-25, several. */
function textOf(result: JsonBytes, question: string): string {
  if (result.length > answerByteLimit) throw new UnusableAnswer(`the answer is longer than ${answerByteLimit} bytes`);
  const content = parseJsonObject(result)?.["content"];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) =>
    isJsonObject(block) && block["type"] === "text" && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  if (texts.length === 0) throw new UnusableAnswer("the client answered no text", estimateSpent(question, ""));
  return texts.join("\n");
}
