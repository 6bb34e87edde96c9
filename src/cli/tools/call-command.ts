import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../kernel/text/json-bytes.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { answerAsked } from "../../operations/tools/approval-operations.ts";
import type { showTool } from "../../operations/tools/tool-operations.ts";
import { scanMembers } from "../../wire/json/json-scan.ts";
import type { CommandContext } from "../command/command-context.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toArgumentsText } from "./argument-words.ts";
import { type GatewayClient, toFailure } from "../gateway/gateway-client.ts";
import { openStartedGateway, whenListed } from "../gateway/started-gateway.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { readTool } from "./show-command.ts";
import { answerQuestion } from "../terminal/question-form.ts";
import { printResult } from "./result-output.ts";
import { createTerminalScreen } from "../terminal/terminal-screen.ts";

/** `toolyard call <tool> [name=value … | JSON | -]`: calls a tool, and prints its result. */
export async function call(context: CommandContext): Promise<number> {
  const [name, ...words] = context.positionals;
  if (name === undefined) return refuseUsage("which tool?", "toolyard call <tool> [name=value ... | JSON | -]");
  const whole = await readWhole(words);
  const gateway = await openStartedGateway(context);
  const typed = async (): Promise<string> => {
    if (words.length === 0) return "";
    const { definition } = JSON.parse(await readTool(gateway, name)) as TypesOf<typeof showTool>["answer"];
    return await toArgumentsText(words, definition.inputSchema, async (path) => await readArgument(context, path));
  };
  const body = whole ?? (await typed());
  return await whenListed(gateway, async () => await carryOut(context, gateway, { name, body }));
}

/** Arguments that are given as one JSON text. Undefined where there are none, or single ones. */
async function readWhole(words: readonly string[]): Promise<string | undefined> {
  const [first = "", ...others] = words;
  if (others.length > 0 || (first !== "-" && !first.trimStart().startsWith("{"))) return undefined;
  const text = first === "-" ? await readAll() : first;
  if (text.trim() === "") return undefined;
  if (!isJsonObject(parseJson(text)))
    throw new GatewayError("CONFIG_INVALID", "the arguments are no JSON object", {
      hint: 'Write them as name=value, or as one object in single quotes: \'{"name":"value"}\'.',
    });
  return text;
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function readArgument({ cwd }: CommandContext, path: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), "utf8");
  } catch (error) {
    throw new GatewayError(
      "CONFIG_INVALID",
      `@${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { hint: "Write name:='\"@text\"' for a text that begins with @." },
    );
  }
}

interface Wanted {
  readonly name: string;
  /** The arguments as a JSON text; empty where there are none. */
  readonly body: string;
}

async function carryOut(context: CommandContext, gateway: GatewayClient, { name, body }: Wanted): Promise<number> {
  const progress = createProgressLine(process.stderr);
  // Where the answer is given only when it is whole, nothing can be asked on the way.
  const streamed = { accept: "text/event-stream", headers: { "toolyard-elicitation": "form, url" } };
  const way = gateway.isStreaming ? streamed : { accept: "application/json" };
  const path = `/execute/${encodeURIComponent(name)}`;
  let event = gateway.isStreaming ? "" : "result";
  try {
    for await (const line of gateway.lines({ method: "POST", path, ...way, body })) {
      if (line.startsWith("event: ")) event = line.slice("event: ".length);
      const data = gateway.isStreaming ? (line.startsWith("data: ") ? line.slice("data: ".length) : undefined) : line;
      if (data === undefined || data === "") continue;
      if (event === "progress") progress.show(JSON.parse(data) as JsonObject);
      if (event === "question") {
        progress.end();
        await answer(gateway, JSON.parse(data) as AskedInCall);
      }
      if (event === "error") throw toFailure(JSON.parse(data) as JsonObject);
      if (event !== "result") continue;
      progress.end();
      return await printAnswer(context, data);
    }
    throw new GatewayError("GATEWAY_UNREACHABLE", `the gateway at ${gateway.base} ended without answering`);
  } finally {
    progress.end();
  }
}

interface AskedInCall {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
}

async function answer(gateway: GatewayClient, question: AskedInCall): Promise<void> {
  const body = JSON.parse(await answerQuestion(question)) as TypesOf<typeof answerAsked>["body"];
  const params = { id: question.id };
  await gateway.ask<typeof answerAsked>("POST /api/questions/{id}", { params, body }).catch((error: unknown) => {
    // It was answered elsewhere, or the server has given up.
    if (toGatewayError(error).code !== "QUESTION_UNKNOWN") throw error;
  });
}

/** Prints what the tool answered, as its server wrote it. */
async function printAnswer(context: CommandContext, text: string): Promise<number> {
  const bytes = Buffer.from(text, "utf8");
  const { warning, error } = JSON.parse(text) as { readonly warning?: string; readonly error?: JsonObject };
  if (warning !== undefined) process.stderr.write(`toolyard: ${plainText(warning)}\n`);
  if (error !== undefined)
    throw new GatewayError("UPSTREAM_PROTOCOL", plainText(`the server answered: ${String(error["message"])}`));
  const result = scanMembers(bytes, 0, bytes.length, deepest).find((member) => member.is("result"));
  return await printResult(context, result === undefined ? "{}" : bytes.toString("utf8", result.start, result.end));
}

/** The gateway has judged the depth already. */
const deepest = 10_000;

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** How far a call is, on one line of a terminal. Nothing is written elsewhere. */
interface ProgressLine {
  /** Takes the params of notifications/progress. */
  show(params: JsonObject): void;
  /** Removes the line. */
  end(): void;
}

function createProgressLine(output: Output): ProgressLine {
  if (output.isTTY !== true) return { show: () => undefined, end: () => undefined };
  const screen = createTerminalScreen(
    (text) => void output.write(text),
    () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
  );
  return { show: (params) => screen.show([toProgressText(params)]), end: () => screen.show([]) };
}

/** `3 of 10: reading`, as far as the server says it. */
function toProgressText({ progress, total, message }: JsonObject): string {
  const done = `${numberText(progress)}${total === undefined ? "" : ` of ${numberText(total)}`}`;
  return plainText(typeof message === "string" && message !== "" ? `${done}: ${message}` : done);
}

function numberText(value: unknown): string {
  return typeof value === "number" ? String(Math.round(value * 100) / 100) : "?";
}
