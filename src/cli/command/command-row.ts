import { placedRows, type PlacedRow } from "../../config/rows/row-reading.ts";
import { settingsTable } from "../../config/settings/settings-table.ts";
import type { CommandContext } from "./command-context.ts";

/** An option: `--name`, or the variable TOOLYARD_NAME. */
export interface Option {
  /** The placeholder for its value in the help. Absent for an option without a value. */
  readonly word?: string | undefined;
  /** One letter that means the same. */
  readonly short?: string;
  /** Whether it may be given several times. Only for an option with a value. */
  readonly isRepeated?: true;
  /** A phrase without a full stop. */
  readonly about: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The parser, the help, docs/cli.md and the loading of a command are all made from its row. */
export interface Command {
  /** How many words it takes besides its options. */
  readonly words: number;
  readonly usage: string;
  readonly about: string;
  readonly options: Options;
  /** What cannot be seen from the options alone. */
  readonly notes?: string;
  /** Called only for the command that was asked for. Default: what `short-commands.ts` has under its name. */
  readonly load?: () => Promise<RunCommand>;
}

export type RunCommand = (context: CommandContext) => Promise<number>;

/** The flags of settings: those of every command that reads the configuration, or those of `serve` only. */
export function settingOptions(which: "common" | "serve"): Options {
  const rows = placedRows(settingsTable).map(({ row }) => row);
  const flags = rows.flatMap((row) =>
    row.flag !== undefined && (row.flag.isCommon === true) === (which === "common")
      ? [[row.flag.name, { word: row.flag.word, about: aboutFlag(row) }] as const]
      : [],
  );
  return Object.fromEntries(flags);
}

function aboutFlag({ about, form, fallback, fallbackText }: PlacedRow["row"]): string {
  if (form.kind === "choice")
    return `${about}: ${form.choices.map((name) => (name === fallback ? `${name} (default)` : name)).join(", ")}`;
  if (form.kind === "boolean") return about;
  return `${about} (default: ${(fallbackText ?? String(fallback)).replaceAll("`", "")})`;
}

/** The options of every command that reads the configuration. */
export const common: Options = {
  config: {
    word: "FILE",
    about: "the configuration file (default: toolyard.json, mcp.json, .mcp.json, then the user's)",
  },
  ...settingOptions("common"),
};

/** The option of every command that asks a gateway, and may ask one elsewhere. */
export const elsewhere: Options = {
  gateway: { word: "URL", about: "a gateway elsewhere, where you are logged in (`toolyard login URL`)" },
};

/** The option that names a person. */
export const principal = (about: string): Options => ({ principal: { word: "NAME", about } });

/** The options that `login` and `logout` share: whose login it is, and at which server. */
export const account: Options = {
  config: { word: "FILE", about: "the configuration that names the server" },
  "data-dir": { word: "DIR", about: "where logins are kept" },
  ...principal("whose login it is, for servers that each person uses with a login of their own"),
};
