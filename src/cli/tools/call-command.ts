import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { EverydayLine, ToolDetailsLine } from "../../front/owner/everyday-lines.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { CommandContext } from "../command/command-context.ts";
import { plainText } from "../terminal/plain-text.ts";
import { toArgumentsText } from "./argument-words.ts";
import { openEveryday, type EverydayTalk } from "../gateway/everyday-gateway.ts";
import { askEveryday, refuseUsage } from "../gateway/everyday-run.ts";
import { createProgressLine } from "../terminal/progress-line.ts";
import { answerQuestion } from "../terminal/question-form.ts";
import { printResult } from "./result-output.ts";

/** `toolyard call <tool> [name=value … | JSON | -]`: calls a tool, and prints its result. */
export async function call(context: CommandContext): Promise<number> {
  const [name, ...words] = context.positionals;
  if (name === undefined) return refuseUsage("which tool?", "toolyard call <tool> [name=value ... | JSON | -]");
  const whole = await readWhole(words);
  using talk = await openEveryday(context);
  let text = whole;
  if (whole === undefined && words.length > 0) {
    const details = await readDetails(talk, name);
    if (details === undefined) return 1;
    text = await toArgumentsText(words, details.inputSchema, async (path) => await readArgument(context, path));
  }
  return await carryOut(context, talk, { name, arguments: text });
}

/** Arguments that are given as one JSON text. Undefined where there are none, or single ones. */
async function readWhole(words: readonly string[]): Promise<string | undefined> {
  const [first = "", ...others] = words;
  if (others.length > 0 || (first !== "-" && !first.trimStart().startsWith("{"))) return undefined;
  const text = first === "-" ? await readAll() : first;
  if (text.trim() === "") return undefined;
  if (!isJsonObject(parse(text)))
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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

/** Undefined where there is no such tool, which has been told then. */
async function readDetails(talk: EverydayTalk, name: string): Promise<ToolDetailsLine | undefined> {
  let found: ToolDetailsLine | undefined;
  await askEveryday(talk, { command: "show", request: { name, brief: true } }, ({ details }) => {
    found = details ?? found;
  });
  return found;
}

async function carryOut(context: CommandContext, talk: EverydayTalk, request: JsonObject): Promise<number> {
  const progress = createProgressLine(process.stderr);
  let printed = 0;
  const take = async ({ progress: params, question, result }: EverydayLine): Promise<void> => {
    if (params !== undefined) progress.show(params);
    if (question === undefined && result === undefined) return;
    progress.end();
    if (question !== undefined) talk.answer(await answerQuestion(question));
    if (result?.warning !== undefined) process.stderr.write(`toolyard: ${plainText(result.warning)}\n`);
    if (result !== undefined) printed = await printResult(context, result.json);
  };
  try {
    const code = await askEveryday(talk, { command: "call", request }, take);
    return code === 0 ? printed : code;
  } finally {
    progress.end();
  }
}
