import { toSlug } from "../../config/words/slug.ts";
import type { EntrySource } from "../../operations/machine/servers/new-entry.ts";
import { toSource } from "../../operations/machine/servers/server-words.ts";

/** A server as somebody typed it on one line, and what it could be called. */
export interface TypedServer {
  readonly name: string;
  readonly source: EntrySource;
}

/**
 * Reads an address, what `servers add` takes in its place (`npm:package`, a name of the registry), or a command with
 * its arguments as a shell would split them. Nothing is expanded, and there are no pipes: the command is started
 * without a shell. A string describes the mistake.
 */
export function readTypedServer(line: string): TypedServer | string {
  const text = line.trim();
  if (text === "") return "Type a command or an address.";
  if (/^[a-z][a-z+.-]*:\/\//i.test(text)) return readAddress(text);
  const named = toSource(text);
  if (named !== undefined) return { name: nameOf([text.replace(/^(?:npm|pypi):/, "")]), source: named };
  const words = splitWords(text);
  if (words === undefined) return "A quotation mark is not closed.";
  const meta = words.find((word) => /^(?:[|&;<>]|&&|\|\|)+$/.test(word));
  if (meta !== undefined)
    return `${meta} needs a shell, and commands are started without one: put the line into a script.`;
  return { name: nameOf(words), source: { kind: "command", words } };
}

function readAddress(text: string): TypedServer | string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) return "An address begins with http:// or https://.";
  const { hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return "Leave user and password out: they do not belong in an address.";
  const parts = hostname.split(".").filter((part) => !/^(?:www|mcp|api|com|org|net|io|dev|ai|app|\d+)$/.test(part));
  return { name: toSlug(parts.at(-1) ?? "remote"), source: { kind: "url", url: text } };
}

/** Undefined where a quotation mark is not closed. A backslash keeps the next character, but not in single quotes. */
function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (character === "\\" && quote !== "'" && /[\\"'\s]/.test(text.charAt(at + 1))) {
      at += 1;
      word = `${word ?? ""}${text.charAt(at)}`;
    } else word = `${word ?? ""}${character}`;
  }
  if (quote !== undefined) return undefined;
  return word === undefined ? words : [...words, word];
}

const runners = /^(?:npx|uvx|bunx|pnpx|node|python3?|deno|bun|docker|uv|run|exec|dlx|x|-.*)$/;

/** After the package or script that is run: `npx -y @modelcontextprotocol/server-github` is `github`. */
function nameOf(words: readonly string[]): string {
  const told = words.find((word) => !runners.test(word.replace(/^.*[/\\](?=[^/\\]+$)/, ""))) ?? words[0] ?? "";
  const last =
    told
      .replace(/(?<=.)@[^/]*$/, "")
      .split(/[/\\]/)
      .at(-1) ?? told;
  const short = last
    .replace(/\.(?:[cm]?[jt]s|py|exe|cmd)$/, "")
    .replace(/^(?:mcp-)?server-|-mcp(?:-server)?$|^mcp-/, "");
  return toSlug(short === "" ? last : short);
}
