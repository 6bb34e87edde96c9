import { createKeyFinder } from "../../words/key-patterns.ts";
import { isSecretSetting } from "../../words/secret-names.ts";
import { Spans } from "../../words/spans.ts";
import { toConstant } from "../../words/variable-names.ts";
import type { ImportedEntry } from "../connect/client-entry.ts";

/** A secret written in an entry itself, visible to everyone who can read the file. */
export interface LiteralSecret {
  /** `env.TOKEN`, `headers.Authorization`, `args[2]` or `url`. */
  readonly where: string;
  readonly value: string;
  /** A name for the variable that could take its place. */
  readonly variable: string;
}

/** The secrets that stand in an entry, by the names of their members and by the look of keys. */
export function findLiteralSecrets(entry: ImportedEntry, serverName: string): readonly LiteralSecret[] {
  const found: LiteralSecret[] = [];
  eachText(entry, serverName, (text, place) => {
    found.push(...secretsIn(text, place));
    return text;
  });
  return found;
}

/** The entry with a variable in place of each secret that `variables` names, by its value. */
export function withSecretVariables(
  entry: ImportedEntry,
  variables: ReadonlyMap<LiteralSecret, string>,
): ImportedEntry {
  return eachText(entry, "", (text, { where }) => {
    let written = text;
    for (const [secret, name] of variables) {
      // Secrets stand at the end of what names them.
      const at = secret.where === where ? written.lastIndexOf(secret.value) : -1;
      if (at !== -1) written = `${written.slice(0, at)}\${${name}}${written.slice(at + secret.value.length)}`;
    }
    return written;
  });
}

/** A text of an entry, and its place there. */
interface TextPlace {
  readonly where: string;
  /** The name that belongs to the value: of a variable, a header, or the option before it. */
  readonly name: string | undefined;
  /** What a variable for it should be called. */
  readonly variable: (name: string | undefined) => string;
  /**
   * Whether the variable takes the place of the whole text, because it has the name of this one: a person who sets
   * `DATABASE_URL` gives the whole address, and an argument may refer to it.
   */
  readonly isWhole?: boolean;
}

function eachText(
  entry: ImportedEntry,
  serverName: string,
  change: (text: string, place: TextPlace) => string,
): ImportedEntry {
  const ofServer = (name: string | undefined) =>
    `${toConstant(serverName)}_${name === undefined || /^authorization$/i.test(name) ? "TOKEN" : toConstant(name)}`;
  const { env, headers, args, url } = entry;
  const members = (part: "env" | "headers", values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const own = part === "env" && /^[A-Za-z_]\w*$/.test(name);
        const variable = own ? () => name : ofServer;
        return [name, change(value, { where: `${part}.${name}`, name, variable, isWhole: own })];
      }),
    );
  return {
    ...entry,
    ...(args === undefined
      ? {}
      : {
          args: args.map((arg, index) =>
            change(arg, { where: `args[${index}]`, name: optionBefore(args, index), variable: ofServer }),
          ),
        }),
    ...(env === undefined ? {} : { env: members("env", env) }),
    ...(url === undefined ? {} : { url: change(url, { where: "url", name: undefined, variable: ofServer }) }),
    ...(headers === undefined ? {} : { headers: members("headers", headers) }),
  };
}

/** The option whose value this argument is: `--api-key` before it. An argument that is an option itself has none. */
function optionBefore(args: readonly string[], index: number): string | undefined {
  const before = args[index - 1];
  const isValue = before !== undefined && /^--?[A-Za-z][\w-]*$/.test(before) && !args[index]?.startsWith("-");
  return isValue ? before.replace(/^-+/, "") : undefined;
}

function secretsIn(text: string, place: TextPlace): readonly LiteralSecret[] {
  if (text.includes("${")) return [];
  const { where, name, variable, isWhole } = place;
  const parts = secretParts(text, place);
  return isWhole === true && parts.length > 0 ? [{ where, value: text, variable: variable(name) }] : parts;
}

function secretParts(text: string, { where, name, variable }: TextPlace): readonly LiteralSecret[] {
  if (name !== undefined && isSecretSetting(name)) {
    // `Bearer abc`: the scheme is no secret, and says what the rest is.
    const value = text.slice(schemeOf(text).length);
    return isPlain(value) ? [] : [{ where, value, variable: variable(name) }];
  }
  const assigned = /^(?:-+)?([A-Za-z_][\w.-]*)=(.+)$/s.exec(text);
  if (assigned?.[1] !== undefined && assigned[2] !== undefined && isSecretSetting(assigned[1]) && !isPlain(assigned[2]))
    return [{ where, value: assigned[2], variable: variable(assigned[1]) }];
  const spans = new Spans();
  createKeyFinder().find(text, spans);
  return spans.merged().map(({ start, end }) => ({
    where,
    value: text.slice(start, end),
    variable: variable(/([A-Za-z][\w-]*)=$/.exec(text.slice(0, start))?.[1] ?? name),
  }));
}

/** The prefix of a credential that says how it is used, such as `Bearer `. Empty where there is nothing. */
export function schemeOf(text: string): string {
  return /^(?:Bearer|Basic|Token|ApiKey)\s+(?=\S)/i.exec(text)?.[0] ?? "";
}

/** What a member with a secret's name may hold without being one: nothing, a switch, a number, a file. */
function isPlain(value: string): boolean {
  if (/^(?:|true|false|yes|no|on|off|none|null|\d{1,5})$/i.test(value)) return true;
  return /^(?:~|\.{1,2})?[/\\][^\s]*\.\w{2,5}$|^[A-Za-z]:[/\\]/.test(value);
}
