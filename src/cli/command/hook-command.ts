import { judgeNamedTool, type NamedVerdict } from "../../engine/policy/named-tool.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "./command-context.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** What Claude Code takes as a refusal, with stderr as its reason. Every other code but 0 lets the call go through. */
const refused = 2;
/** The input includes the arguments of a call. */
const mostBytes = 64 * 1024 * 1024;
const mostShown = 200;

/**
 * `toolyard hook claude-code`: what Claude Code runs before a call of `execute_mcp_tool` or its twin, with the call on
 * stdin. Says what the rules of the configuration say of the tool, or nothing where they allow it. Refuses when it
 * cannot tell.
 */
export async function hook(context: CommandContext): Promise<number> {
  try {
    const [client] = context.positionals;
    if (client !== "claude-code") throw new Error("say for which client: claude-code");
    const name = toolOf(JSON.parse(await readInput(process.stdin)));
    if (name === undefined) return 0;
    const { servers, file } = await readConfig(context);
    const found = judgeNamedTool(name, servers);
    if (found.verdict !== "allow") process.stdout.write(`${JSON.stringify(toAnswer(name, found, file))}\n`);
    return 0;
  } catch (error) {
    const { message, hint, code } = toGatewayError(error);
    const then = code === "CONFIG_INVALID" ? ` ${hint}` : "";
    process.stderr.write(`toolyard: the rules for tools cannot be applied: ${plainText(message)}${then}\n`);
    return refused;
  }
}

/** The name of the tool that is to be called; undefined for a call that is not ours, or that the gateway refuses. */
function toolOf(input: unknown): string | undefined {
  if (!isJsonObject(input)) throw new Error("stdin has no JSON object");
  const { tool_name: called, tool_input: given } = input;
  if (typeof called !== "string") throw new Error("stdin names no tool");
  if (!/^mcp__.+__execute(?:_read_only)?_mcp_tool$/s.test(called) || !isJsonObject(given)) return undefined;
  const path = given["tool_path"];
  return typeof path === "string" ? path : undefined;
}

function toAnswer(name: string, { verdict, servers }: NamedVerdict, file: string | undefined): object {
  const shown = JSON.stringify(plainText(name.slice(0, mostShown)));
  const whose = `the rules for ${servers.slice(0, 5).join(", ")} in ${file ?? "the configuration"}`;
  const reason =
    verdict === "deny" ? `${shown} is not allowed: ${whose}` : `${shown} may mean a tool that is not allowed: ${whose}`;
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: verdict,
      permissionDecisionReason: reason,
    },
  };
}

async function readInput(input: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`stdin has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
