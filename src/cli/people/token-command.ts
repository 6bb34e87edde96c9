import { createToken } from "../../people/identity/token.ts";
import type { CommandContext } from "../command/command-context.ts";
import { textOption } from "../../config/given.ts";
import { personalToken } from "./user-command.ts";

const wrongUsage = 2;

/**
 * `toolyard token new`: prints the token to stdout, and where to put it to stderr. With `--user`, and for every other
 * task, it is about tokens that a gateway for teams keeps.
 */
export async function token(context: CommandContext): Promise<number> {
  const [what, extra] = context.positionals;
  if (what === "new" && extra !== undefined) {
    process.stderr.write(`toolyard: what is ${JSON.stringify(extra)}? Usage: toolyard token new [options]\n`);
    return wrongUsage;
  }
  if (what !== "new" || textOption(context, "user") !== undefined) return await personalToken(context);
  const made = createToken();
  const principal = textOption(context, "principal");
  const place =
    principal !== undefined
      ? `"toolyard": { "principals": { ${JSON.stringify(principal)}: { "tokenHash": "${made.hash}" } } }`
      : `"toolyard": { "auth": { "tokenHashes": ["${made.hash}"] } }`;
  process.stdout.write(`${made.token}\n${made.hash}\n`);
  process.stderr.write(
    `The first line is the token: it is shown only now. The second is its hash, for the configuration:\n  ${place}\n`,
  );
  return 0;
}
