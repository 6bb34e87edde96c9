import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { EntrySource, NamedValue } from "./new-entry.ts";

/** What `servers add` is given besides its options. */
export interface AddedWords {
  readonly name: string | undefined;
  readonly source: EntrySource;
}

/** npm's own rule, without what no published package has. */
const npmName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const pypiName = /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i;
/** Of a tested server, or of a package that npm or PyPI may have. */
const plainName = /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?:@([A-Za-z0-9][A-Za-z0-9._+-]*))?$/i;
const version = /^[A-Za-z0-9][A-Za-z0-9._+-]*$/;
/** A name in the registry is a domain read backwards, a slash, and a name. */
const registryName = /^[a-z0-9-]+(\.[a-z0-9-]+)+\/[a-z0-9._-]+(@[^@\s]+)?$/i;

/** A whole entry: only its name is said with words. Throws CONFIG_INVALID. */
export function readEntryWords(words: readonly string[], entry: Readonly<Record<string, unknown>>): AddedWords {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) return refuse("expected a name beside --entry, and nothing else");
  return { name, source: { kind: "entry", entry } };
}

/**
 * Reads `NAME -- command args…`, `NAME URL`, `[NAME] npm:package[@version]`, `[NAME] pypi:package[==version]`,
 * `[NAME] io.github.x/y[@version]` and `[NAME] name`. Throws CONFIG_INVALID.
 */
export function readAddedWords(words: readonly string[], afterDashes: readonly string[] | undefined): AddedWords {
  if (afterDashes !== undefined) {
    const before = words.slice(0, words.length - afterDashes.length);
    const [name] = before;
    if (name === undefined || before.length > 1 || afterDashes.length === 0)
      return refuse("expected a name before `--`, and a command after it");
    return { name, source: { kind: "command", words: afterDashes } };
  }
  const [first, second] = words;
  if (first === undefined || words.length > 2) return refuse("expected a name, and where the server comes from");
  const named = second === undefined ? undefined : first;
  const text = second ?? first;
  const source = toSource(text) ?? toPlain(text);
  if (source === undefined)
    return refuse(
      second === undefined ? `where does ${JSON.stringify(first)} come from?` : `what is ${JSON.stringify(second)}?`,
    );
  if (source.kind === "url" && named === undefined) return refuse("a URL needs a name before it");
  return { name: named, source };
}

/** An address, a package, or a name of the registry; undefined for anything else. */
export function toSource(text: string): EntrySource | undefined {
  if (/^https?:\/\//i.test(text)) return URL.canParse(text) ? { kind: "url", url: text } : undefined;
  const [, kind, rest = ""] = /^(npm|pypi):(.+)$/.exec(text) ?? [];
  if (kind === "npm") return toPackage("npm", rest, "@");
  if (kind === "pypi") return toPackage("pypi", rest, rest.includes("==") ? "==" : "@");
  if (text.startsWith("@")) return toPackage("npm", text, "@");
  if (!registryName.test(text)) return undefined;
  const at = text.indexOf("@");
  return at === -1
    ? { kind: "registry", name: text, version: undefined }
    : { kind: "registry", name: text.slice(0, at), version: text.slice(at + 1) };
}

function toPlain(text: string): EntrySource | undefined {
  if (text.includes("==")) return toPackage("pypi", text, "==");
  const [, name, wanted] = plainName.exec(text) ?? [];
  return name === undefined ? undefined : { kind: "plain", name, version: wanted };
}

/** The words go to npm, which runs them through a shell on Windows: nothing passes that is no name. */
function toPackage(registry: "npm" | "pypi", text: string, mark: string): EntrySource | undefined {
  const at = text.indexOf(mark, 1);
  const name = at === -1 ? text : text.slice(0, at);
  const wanted = at === -1 ? undefined : text.slice(at + mark.length);
  const isName = (registry === "npm" ? npmName : pypiName).test(name);
  if (!isName || (wanted !== undefined && !version.test(wanted))) return undefined;
  return { kind: "package", registry, name, version: wanted };
}

function refuse(message: string): never {
  throw new GatewayError("CONFIG_INVALID", message, {
    hint: "Write `toolyard servers add NAME -- command args…`, or instead of the command a URL, npm:package, pypi:package, the name of a tested server or package, or a name of the MCP registry such as io.github.owner/server.",
  });
}

/** Throws CONFIG_INVALID if it is no `NAME=value`; headers may be written with a colon. */
export function splitPair(text: string, option: string): NamedValue {
  const [, name, value] =
    (option === "--header" ? /^([^=:\s]+)(?:=|:\s*)([^]*)$/ : /^([^=]+)=([^]*)$/).exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new GatewayError("CONFIG_INVALID", `${option}: expected NAME=VALUE`, {
    hint: `Write for example ${option} ${option === "--header" ? "X-Team=blue" : "API_URL=https://example.com"}.`,
  });
}
