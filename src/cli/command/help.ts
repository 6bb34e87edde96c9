import type { Options } from "./command-row.ts";
import { commands } from "../commands.ts";
import { columnsOf, wrapText } from "../terminal/fitted-text.ts";

/** The commands by what somebody wants to do. Each is in one of the groups. */
export const commandGroups: Readonly<Record<string, string>> = {
  Start: "serve status open stop service stdio",
  "Use tools": "search call approvals tools show policy definitions resources read prompts",
  Servers: "servers sandbox login logout restart logs",
  "AI clients": "import clients connect disconnect profiles hook",
  Teams: "user team invite token app session client template install uninstall installations secret key",
  Upkeep: "doctor config calls tokens usage events protocol nodes drain audit trust backup restore db completion",
};

/** What `toolyard --help` prints. */
export function generalHelp(columns = widthOfHelp()): string {
  const groups = Object.entries(commandGroups).map(([title, names]) => {
    const lines = names.split(" ").flatMap((name) => commandLines(name, columns));
    return `${title}\n${lines.join("\n")}\n`;
  });
  const text = `toolyard: an MCP gateway. One connection, four small tools, every server behind them.

Usage: toolyard <command> [options]

${groups.join("\n")}
The options of a command: toolyard <command> --help. The version: toolyard --version.
Every option is also a variable: --data-dir is TOOLYARD_DATA_DIR, and so on.
`;
  return text
    .split("\n")
    .flatMap((line) => wrapText(line, columns))
    .join("\n");
}

/** What follows the name of the program, form by form, with what the command does beside the last one. */
function commandLines(name: string, columns: number): readonly string[] {
  const { usage = "", about = "" } = commands[name] ?? {};
  // The last line of the help says where they are.
  const forms = usage.replaceAll(" [options]", "").split("\n");
  const heads = forms.map((form) => `  ${form.trim().replace(/^toolyard /, "")}`);
  const above = heads.slice(0, -1).flatMap((head) => wrapText(head, columns, "      "));
  return [...above, ...described(heads.at(-1) ?? "", about, columns)];
}

/** The line that is printed after a mistake on the command line. */
export function usageOf(name: string): string {
  return `Usage: ${commands[name]?.usage ?? "toolyard --help"}`;
}

/** What `toolyard <command> --help` prints. */
export function commandHelp(name: string, columns = widthOfHelp()): string {
  const command = commands[name];
  if (command === undefined) return generalHelp(columns);
  const usage = command.usage.split("\n").flatMap((form) => wrapText(form, columns, "           "));
  const paragraphs = [
    usage.join("\n"),
    wrapText(command.about, columns).join("\n"),
    ["Options", ...optionLines(command.options, columns)].join("\n"),
    ...(command.notes === undefined ? [] : [reflow(command.notes, columns).join("\n")]),
  ];
  return `${paragraphs.join("\n\n")}\n`;
}

/** The column at which descriptions begin, and the last one where there is room. */
const column = 20;
const lastColumn = 110;

function widthOfHelp(): number {
  return Math.min(lastColumn, columnsOf(process.stdout));
}

function optionLines(options: Options, columns: number): readonly string[] {
  return Object.entries(options).flatMap(([name, { word, short, about }]) => {
    const head = `  ${short === undefined ? "" : `-${short}, `}--${name}${word === undefined ? "" : ` ${word}`}`;
    return described(head, about, columns);
  });
}

/** The left column, with its description beside it, or below where it is too long for that. */
function described(head: string, about: string, columns: number): readonly string[] {
  const indent = " ".repeat(column);
  const [first = "", ...rest] = wrapText(indent + about, columns, indent);
  if (head.length < column) return [head + first.slice(head.length), ...rest];
  return [...wrapText(head, columns, "      "), first, ...rest];
}

/** Paragraphs without the ends of lines that they have in the table; lines that are indented stay lines. */
function reflow(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const last = lines.at(-1);
    const isWhole = last === undefined || last === "" || line === "" || line.startsWith(" ") || last.startsWith(" ");
    if (isWhole) lines.push(line);
    else lines[lines.length - 1] = `${last} ${line}`;
  }
  return lines.flatMap((line) => wrapText(line, columns, line.startsWith(" ") ? "      " : ""));
}
