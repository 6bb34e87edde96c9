import type { ImportedEntry } from "../../config/clients/connect/client-entry.ts";
import { inputVariable, substitute } from "../../config/file/substitution.ts";
import { keepValue } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { askSecret } from "../terminal/yes-or-no.ts";

/**
 * Asks for the values of variables that servers refer to and that are not set, and keeps the answers encrypted. To be
 * called when their entries are written.
 */
export async function askForValues(
  context: CommandContext,
  servers: readonly (readonly [string, ImportedEntry])[],
): Promise<void> {
  for (const [variable, keys] of await missingOf(context, servers)) {
    const question = `${variable} of ${keys.join(", ")} is not set. Its value, kept encrypted (Enter leaves it out):`;
    const value = await askSecret(plainText(question));
    if (value !== undefined) await keepValue(context, variable, value);
  }
}

/** By the name of the variable, whose it is. */
async function missingOf(
  context: CommandContext,
  servers: readonly (readonly [string, ImportedEntry])[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  // Reading the file knows which names are no variables.
  const known = (await readConfig(context)).identity?.variables ?? {};
  const wanted = new Map<string, readonly string[]>();
  for (const [key, entry] of servers) {
    for (const { name } of substitute(entry, { variables: context.env }).missing) {
      const variable = name.startsWith("input:") ? inputVariable(name.slice("input:".length)) : name;
      const keys = wanted.get(variable) ?? [];
      if (known[variable] === null && !keys.includes(key)) wanted.set(variable, [...keys, key]);
    }
  }
  return wanted;
}
