import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { missingIn } from "../../config/clients/import/import-plan.ts";
import {
  keepValues,
  readConfig,
  readKeptValues,
  requireVariableName,
} from "../../operations/machine/surroundings/surroundings.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { type CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { readSecret } from "../people/installs-command.ts";
import { printText } from "../terminal/fitted-text.ts";
import { askSecret, canAsk } from "../terminal/yes-or-no.ts";

/** `toolyard config keep [NAME]`: keeps the value of a variable, encrypted; without a name, lists the names. */
export async function keep(context: CommandContext): Promise<number> {
  const [, name] = context.positionals;
  if (name === undefined) return await list(context);
  requireVariableName(name);
  const value = canAsk() ? await askSecret(`The value of ${name}`) : await readSecret();
  if (value === undefined || value === "")
    throw new GatewayError("CONFIG_INVALID", "no value was given", { hint: "Type it, or send it to standard input." });
  await keepValues(context, { [name]: value });
  return tell(context, { kept: name }, `kept: ${name}. A gateway that runs has it at once.`);
}

/** `toolyard config forget NAME`. */
export async function forget(context: CommandContext): Promise<number> {
  const [, name = ""] = context.positionals;
  requireVariableName(name);
  const wasThere = Object.hasOwn(await keepValues(context, { [name]: undefined }), name);
  return tell(context, { forgotten: name, wasThere }, wasThere ? `forgotten: ${name}` : `${name} was not kept`);
}

async function list(context: CommandContext): Promise<number> {
  const names = Object.keys(await readKeptValues(context)).toSorted();
  return tell(context, { names }, names.length === 0 ? "No value is kept." : names.join("\n"));
}

function tell(context: CommandContext, facts: object, text: string): number {
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(facts)}\n`);
  else printText(process.stdout, text);
  return 0;
}

/**
 * Asks for the values of variables that servers refer to and that are not set, and keeps the answers encrypted. To be
 * called when their entries are written. Resolves to the names that have a value by that.
 */
export async function askForValues(
  context: CommandContext,
  servers: readonly (readonly [string, object])[],
): Promise<readonly string[]> {
  const answers = new Map<string, string>();
  for (const [variable, keys] of await missingOf(context, servers)) {
    const question = `${variable} of ${keys.join(", ")} is not set. Its value, kept encrypted (Enter leaves it out):`;
    const value = await askSecret(plainText(question));
    if (value !== undefined) answers.set(variable, value);
  }
  if (answers.size > 0) await keepValues(context, Object.fromEntries(answers));
  return [...answers.keys()];
}

/** By the name of the variable, whose it is. */
async function missingOf(
  context: CommandContext,
  servers: readonly (readonly [string, object])[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  // Reading the file knows which names have a value: of the environment, and kept ones.
  const known = (await readConfig(context)).identity?.variables ?? {};
  const wanted = new Map<string, readonly string[]>();
  for (const [key, entry] of servers)
    for (const variable of missingIn(entry, context.env))
      if (known[variable] === null) wanted.set(variable, [...(wanted.get(variable) ?? []), key]);
  return wanted;
}
