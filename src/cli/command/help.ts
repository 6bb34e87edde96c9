import type { Options } from "./command-row.ts";
import { commands } from "../commands.ts";

/** What `toolyard --help` prints. */
export function generalHelp(): string {
  const lines = Object.values(commands).flatMap(({ usage, about }) => {
    // The last line below says where they are.
    const forms = usage.replaceAll(" [options]", "").split("\n");
    const heads = forms.map((form) => `  ${form.trim()}`);
    return [...heads.slice(0, -1), ...described(heads.at(-1) ?? "", about, commandColumn)];
  });
  return `toolyard: an MCP gateway. One connection, four small tools, every server behind them.

Commands
${lines.join("\n")}

  toolyard <command> --help     the options of a command
  toolyard --version

Every option is also a variable: --data-dir is TOOLYARD_DATA_DIR, and so on.
`;
}

/** The line that is printed after a mistake on the command line. */
export function usageOf(name: string): string {
  return `Usage: ${commands[name]?.usage ?? "toolyard --help"}`;
}

/** What `toolyard <command> --help` prints. */
export function commandHelp(name: string): string {
  const command = commands[name];
  if (command === undefined) return generalHelp();
  const notes = command.notes === undefined ? "" : `\n${command.notes}\n`;
  return `${command.usage}\n\n${command.about}\n\nOptions\n${optionLines(command.options).join("\n")}\n${notes}`;
}

/** The columns at which descriptions of commands and of options begin, and the width of the terminal. */
const commandColumn = 32;
const optionColumn = 20;
const lastColumn = 110;

function optionLines(options: Options): string[] {
  return Object.entries(options).flatMap(([name, { word, short, about }]) => {
    const head = `  ${short === undefined ? "" : `-${short}, `}--${name}${word === undefined ? "" : ` ${word}`}`;
    return described(head, about, optionColumn);
  });
}

/** The left column, with its description beside it, or below where it is too long for that. */
function described(head: string, about: string, column: number): readonly string[] {
  const [first = "", ...rest] = wrap(about, lastColumn - column).map((line) => " ".repeat(column) + line);
  return head.length < column ? [head + first.slice(head.length), ...rest] : [head, first, ...rest];
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
