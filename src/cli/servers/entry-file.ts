import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/** Of one entry; far more than anybody writes. */
const mostBytes = 1_000_000;

/** The entry in a file, or from standard input where it is called `-`. Rejects with CONFIG_INVALID. */
export async function readEntryFile(file: string, cwd: string): Promise<JsonObject> {
  const value = parse(file === "-" ? await readInput() : await readText(file, cwd));
  if (isJsonObject(value)) return value;
  throw refused(file, "expected one JSON object, as a server has it in `mcpServers`");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(file: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (error) {
    // What other programs take as JSON on their command line would leave its secrets in the shell's history.
    if (file.trimStart().startsWith("{")) throw refusedText();
    throw refused(file, `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) throw refused("-", "is too long for an entry");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function refused(file: string, why: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", `--entry ${file}: ${why}`, {
    hint: 'Write an entry such as { "command": "npx", "args": ["-y", "package"] }.',
  });
}

function refusedText(): GatewayError {
  return new GatewayError("CONFIG_INVALID", "--entry takes the name of a file, and was given JSON", {
    hint: "Write it into a file, or give it on standard input: `echo '{ … }' | toolyard servers add NAME --entry -`.",
  });
}
