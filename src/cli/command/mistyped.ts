import { suggestion } from "../../config/file/near-miss.ts";

/** The message for a command that does not exist: not the whole help, which would hide it. */
export function unknownCommand(name: string, known: readonly string[]): string {
  return `there is no command ${JSON.stringify(name)}${suggestion(name, known)}\n  \`toolyard --help\` lists them.`;
}

/** The message for options that cannot be read. Node's own words for one that is not known are about `--`. */
export function wrongOption(error: unknown, command: string | undefined, known: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const name = /^Unknown option '-{1,2}([^']*)'/.exec(message)?.[1];
  if (name === undefined) return message;
  const written = name.length === 1 ? `-${name}` : `--${name}`;
  const help = ["toolyard", ...(command === undefined ? [] : [command]), "--help"].join(" ");
  const after = name.length === 1 ? " An argument that begins with `-` goes after `--`." : "";
  return `there is no option ${written}${suggestion(name, known).replace("`", "`--")}\n  \`${help}\` lists them.${after}`;
}
