import type { Options } from "./command-row.ts";
import { commands } from "./commands.ts";

/** What `toolyard --help` prints. */
export function generalHelp(): string {
  const lines = Object.values(commands).map(({ usage, about }) => `  ${usage.padEnd(42)} ${about}`);
  return `toolyard: an MCP gateway. One connection, four small tools, every server behind them.

Commands
${lines.join("\n")}

  toolyard <command> --help                  the options of a command
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

/** The column at which descriptions of options begin, and the width of the terminal. */
const column = 20;
const lastColumn = 110;

function optionLines(options: Options): string[] {
  return Object.entries(options).flatMap(([name, { word, short, about }]) => {
    const head = `  ${short === undefined ? "" : `-${short}, `}--${name}${word === undefined ? "" : ` ${word}`}`;
    const [first = "", ...rest] = wrap(about, lastColumn - column).map((line) => " ".repeat(column) + line);
    return head.length < column ? [head + first.slice(head.length), ...rest] : [head, first, ...rest];
  });
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
