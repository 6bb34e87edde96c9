import { createInterface } from "node:readline";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { readField, type FieldAnswer } from "./question-field.ts";

export interface AskedQuestion {
  readonly method: string;
  readonly params: JsonObject;
}

const declined = '{"action":"decline"}';
const cancelled = '{"action":"cancel"}';

/**
 * The JSON text of a person's answer to what a server asks in the middle of a call (elicitation). Where there is no
 * terminal the question is declined, which is said on stderr. Never rejects.
 */
export async function answerQuestion({ params }: AskedQuestion): Promise<string> {
  const { message: asked } = params;
  const message = plainText(typeof asked === "string" ? asked : "the server asks something");
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    process.stderr.write(`toolyard: declined, because this is no terminal: ${message}\n`);
    return declined;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Text typed before the question is not lost.
  const lines = terminal[Symbol.asyncIterator]();
  // A command that is interrupted ends, and with it the call.
  terminal.once("SIGINT", () => {
    terminal.close();
    process.kill(process.pid, "SIGINT");
  });
  try {
    process.stderr.write(`${message}\n`);
    const ask: Ask = async (text) => {
      terminal.setPrompt(text);
      terminal.prompt();
      const { value, done } = await lines.next();
      if (done === true) throw new Error("the input ended");
      return value;
    };
    return params["mode"] === "url" ? await askToOpen(params, ask) : await askForm(params, ask);
  } catch {
    // The input ended, as Ctrl-D does it.
    return cancelled;
  } finally {
    terminal.close();
    process.stdin.pause();
  }
}

/** Rejects when there will be no answer. */
type Ask = (text: string) => Promise<string>;

async function askToOpen({ url }: JsonObject, ask: Ask): Promise<string> {
  process.stderr.write(`Open this address: ${plainText(String(url))}\n`);
  const said = await ask("Press Enter when that is done, or n to decline: ");
  return /^n/i.test(said.trim()) ? declined : '{"action":"accept"}';
}

/** Asks for one field after the other; their values are JSON texts, so that a number keeps its digits. */
async function askForm({ requestedSchema }: JsonObject, ask: Ask): Promise<string> {
  const schema = isJsonObject(requestedSchema) ? requestedSchema : {};
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  if (/^n/i.test((await ask("Answer? [Y/n] ")).trim())) return declined;
  const members: string[] = [];
  for (const [name, field] of Object.entries(properties)) {
    const value = await askField({
      ask,
      name,
      field: isJsonObject(field) ? field : {},
      isRequired: required.includes(name),
    });
    if (value !== undefined) members.push(`${JSON.stringify(name)}:${value}`);
  }
  return `{"action":"accept","content":{${members.join(",")}}}`;
}

interface FieldQuestion {
  readonly ask: Ask;
  readonly name: string;
  readonly field: JsonObject;
  readonly isRequired: boolean;
}

async function askField({ ask, name, field, isRequired }: FieldQuestion): Promise<string | undefined> {
  const { prompt, read } = readField(name, field, isRequired);
  for (;;) {
    const answer: FieldAnswer = read(await ask(`${prompt}: `));
    if (answer.problem === undefined) return answer.value;
    process.stderr.write(`  ${answer.problem}\n`);
  }
}
