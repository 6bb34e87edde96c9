import type { CommandContext } from "../command/command-context.ts";
import { refuseUsage, runEveryday } from "../gateway/everyday-run.ts";
import { printResult } from "./result-output.ts";

/** `toolyard read <uri>`: reads a resource by any form of its URI, and prints or saves it. */
export async function read(context: CommandContext): Promise<number> {
  const [uri] = context.positionals;
  if (uri === undefined) return refuseUsage("which resource?", "toolyard read <uri> [options]");
  let printed = 0;
  const code = await runEveryday(context, { command: "read", request: { uri } }, async ({ result }) => {
    if (result !== undefined) printed = await printResult(context, result.json);
  });
  return code === 0 ? printed : code;
}
