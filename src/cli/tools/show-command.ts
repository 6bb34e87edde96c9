import type { ServerDetailsLine, ToolDetailsLine, ToolUse } from "../../front/owner/everyday-lines.ts";
import { countText } from "../../kernel/text/count-text.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../command/options.ts";
import { plainText } from "../terminal/plain-text.ts";
import { refuseUsage, runEveryday } from "../gateway/everyday-run.ts";
import { plainLines } from "../terminal/plain-lines.ts";

/** `toolyard show <tool|server>`: all that is known of one tool, or of one server. */
export async function show(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  if (name === undefined) return refuseUsage("which tool or server?", "toolyard show <tool|server> [options]");
  return await runEveryday(context, { command: "show", request: { name } }, ({ details, serverDetails: server }) => {
    if (server !== undefined)
      process.stdout.write(`${isOn(context, "json") ? JSON.stringify(server) : toServerText(server)}\n`);
    if (details === undefined) return;
    process.stdout.write(isOn(context, "json") ? `${toJson(details)}\n` : `${toText(details)}\n`);
  });
}

function toServerText(server: ServerDetailsLine): string {
  const { word, reason, version, eras, handshake, oddities } = server;
  const facts: readonly (readonly [string, string])[] = [
    ["status", `${word}${reason === "" ? "" : `: ${plainText(reason)}`}`],
    ["version", plainText(version ?? "not known")],
    ["protocol", eras.length === 0 ? "not known" : eras.join(", ")],
    ["offers", `${server.tools} tools, ${server.resources} resources, ${server.prompts} prompts`],
    ...rowsOf(
      "handshake",
      handshake.map(({ step, why }) => `${step} failed: ${why}`),
    ),
    ...rowsOf("odd", oddities),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    `${plainText(server.server)}${server.title === server.server ? "" : `: ${plainText(server.title)}`}`,
    ...facts.map(([name, text]) => `${name.padEnd(width)}  ${text}`),
  ].join("\n");
}

function rowsOf(name: string, texts: readonly string[]): (readonly [string, string])[] {
  return texts.map((text, at) => [at === 0 ? name : "", plainText(text)]);
}

/** The definition stays the text that it is, because its numbers may be larger than JavaScript's. */
function toJson({ definition, inputSchema: _parsed, ...details }: ToolDetailsLine): string {
  return `${JSON.stringify(details).slice(0, -1)},"definition":${definition}}`;
}

function toText(tool: ToolDetailsLine): string {
  const { path, title, description, input, server, word, reason, tokens, use } = tool;
  const status = `${server} is ${word}${reason === "" || word === "online" || word === "asleep" ? "" : `: ${plainText(reason)}`}`;
  const facts: readonly (readonly [string, string])[] = [
    ["takes", plainText(input)],
    ["says", hintsOf(tool)],
    ["also called", tool.spellings.map(plainText).join(", ")],
    ["tokens", `~${countText(tokens)} where its definition is listed`],
    ["server", status],
    ["use", useOf(use)],
    ...tool.phrases.map((phrase, at): readonly [string, string] => [at === 0 ? "people say" : "", plainText(phrase)]),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    `${plainText(path)}${title === null ? "" : `: ${plainText(title)}`}`,
    ...plainLines(description ?? "no description").map((line) => `  ${line}`),
    "",
    ...facts.map(([name, text]) => `${name.padEnd(width)}  ${text}`),
  ].join("\n");
}

function useOf(use: ToolUse | null): string {
  if (use === null) return "not known";
  if (use.calls === 0) return "not called in 24 h";
  return `${countText(use.calls)} ${use.calls === 1 ? "call" : "calls"} in 24 h${use.errors === 0 ? "" : `, ${countText(use.errors)} failed`}`;
}

/** Its annotations, which are what the server says of it, and unchecked. */
function hintsOf({ annotations }: ToolDetailsLine): string {
  const hints = [
    ["readOnlyHint", "reads only", "changes something"],
    ["destructiveHint", "may destroy", "destroys nothing"],
    ["idempotentHint", "may be repeated", "should not be repeated"],
    ["openWorldHint", "reaches the outside world", "stays in its own world"],
  ] as const;
  const said = hints.flatMap(([key, yes, no]) => {
    const value = annotations[key];
    return typeof value === "boolean" ? [value ? yes : no] : [];
  });
  return said.length === 0 ? "nothing about what it does" : said.join(", ");
}
