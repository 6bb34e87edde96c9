import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { keepValue, readKeptValues } from "../../operations/machine/surroundings/surroundings.ts";
import { type CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { readSecret } from "../people/installs-command.ts";
import { printText } from "../terminal/fitted-text.ts";
import { askSecret, canAsk } from "../terminal/yes-or-no.ts";

/** What the configuration may name. Variables of ours stand for options, and are no values of servers. */
const variableName = /^(?!TOOLYARD_(?!INPUT_))[A-Za-z_][A-Za-z0-9_.-]{0,199}$/;

/** `toolyard config keep [NAME]`: keeps the value of a variable, encrypted; without a name, lists the names. */
export async function keep(context: CommandContext): Promise<number> {
  const [, name] = context.positionals;
  if (name === undefined) return await list(context);
  requireName(name);
  const value = canAsk() ? await askSecret(`The value of ${name}`) : await readSecret();
  if (value === undefined || value === "")
    throw new GatewayError("CONFIG_INVALID", "no value was given", { hint: "Type it, or send it to standard input." });
  await keepValue(context, name, value);
  return tell(context, { kept: name }, `kept: ${name}. A gateway that runs has it at its next start.`);
}

/** `toolyard config forget NAME`. */
export async function forget(context: CommandContext): Promise<number> {
  const [, name = ""] = context.positionals;
  requireName(name);
  const wasThere = await keepValue(context, name, undefined);
  return tell(context, { forgotten: name, wasThere }, wasThere ? `forgotten: ${name}` : `${name} was not kept`);
}

async function list(context: CommandContext): Promise<number> {
  const names = Object.keys(await readKeptValues(context)).toSorted();
  return tell(context, { names }, names.length === 0 ? "No value is kept." : names.join("\n"));
}

function requireName(name: string): void {
  if (variableName.test(name)) return;
  throw new GatewayError("CONFIG_INVALID", `${JSON.stringify(name)} is no name of a variable of a server`, {
    hint: "Give the name that the configuration refers to, such as GITHUB_TOKEN for ${GITHUB_TOKEN}.",
  });
}

function tell(context: CommandContext, facts: object, text: string): number {
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(facts)}\n`);
  else printText(process.stdout, text);
  return 0;
}
