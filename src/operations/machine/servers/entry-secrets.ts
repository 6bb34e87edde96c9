import type { ImportedEntry } from "../../../config/clients/connect/client-entry.ts";
import { findLiteralSecrets, withSecretVariables } from "../../../config/clients/import/literal-secrets.ts";
import { createVariableNames } from "../../../config/words/variable-names.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";

/** An entry as it is to be written, and the values of variables that it refers to. */
interface WithSecrets {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly variables: ReadonlyMap<string, string | undefined>;
}

/** Variables that have a value. */
export type KnownValues = Readonly<Record<string, string | undefined>>;

/**
 * The entry with variables in place of the secrets in it, which a file would show to everyone who reads it; the values
 * are those of the variables. A name that is taken by another value is not used.
 */
export async function withoutSecrets<Entry extends WithSecrets>(
  made: Entry,
  known: () => KnownValues | Promise<KnownValues>,
): Promise<Entry> {
  const { name, entry, variables } = made;
  const texts = textsOf(entry);
  const secrets = findLiteralSecrets(texts, name);
  if (secrets.length === 0) return made;
  const nameOf = createVariableNames({ ...(await known()), ...Object.fromEntries(variables) });
  const names = new Map(secrets.map((secret) => [secret, nameOf(secret.variable, secret.value, name)]));
  const hidden: Readonly<Record<string, unknown>> = { ...withSecretVariables(texts, names) };
  const parts = Object.entries(hidden).map(([part, value]) => {
    const written = entry[part];
    return [part, isJsonObject(written) && isJsonObject(value) ? { ...written, ...value } : value] as const;
  });
  return {
    ...made,
    entry: { ...entry, ...Object.fromEntries(parts) },
    variables: new Map([...variables, ...secrets.map((secret) => [names.get(secret) ?? "", secret.value] as const)]),
  };
}

/** What in an entry may have secrets, as far as it is as it should be. */
function textsOf({ args, env, headers, url }: WithSecrets["entry"]): ImportedEntry {
  const isText = (value: unknown): value is string => typeof value === "string";
  const texts = (members: unknown): Readonly<Record<string, string>> | undefined =>
    isJsonObject(members)
      ? Object.fromEntries(Object.entries(members).filter((member): member is [string, string] => isText(member[1])))
      : undefined;
  const [ofEnv, ofHeaders] = [texts(env), texts(headers)];
  return {
    ...(Array.isArray(args) && args.every(isText) ? { args } : {}),
    ...(ofEnv === undefined ? {} : { env: ofEnv }),
    ...(ofHeaders === undefined ? {} : { headers: ofHeaders }),
    ...(isText(url) ? { url } : {}),
  };
}
