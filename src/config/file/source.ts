import { pathText, problemAt, refuse } from "./check.ts";
import type { Document, Path } from "./document.ts";
import { copyServers } from "./foreign-format.ts";
import { nearestName } from "./near-miss.ts";
import { InvalidConfig } from "./problems.ts";

/** The place of a server's entry in a file, whichever client it was written for. */
export interface ServerPlace {
  readonly key: string;
  readonly path: Path;
}

/**
 * Every server entry of a file, in the order of the file: `mcpServers` (Claude Desktop, Claude Code, Cursor,
 * Windsurf, Cline, Gemini), `servers` (VS Code's mcp.json) and `mcp.servers` (VS Code's settings.json). Throws
 * InvalidConfig when one of these is not an object, and for a file that keeps its servers where only another client
 * looks for them.
 */
export function findServers(document: Document): ServerPlace[] {
  const paths = serverObjects(document);
  const problems = paths.flatMap((path) =>
    document.kind(path) === "object"
      ? []
      : [problemAt({ document, path }, "expected an object with one member per server")],
  );
  if (paths.length === 0) problems.push(...elsewhere(document));
  if (problems.length > 0) throw new InvalidConfig(problems);
  const places = paths.flatMap((path) => document.keys(path).map((key) => ({ key, path: [...path, key] })));
  const [path = []] = paths;
  if (places.length > mostServers)
    refuse({ document, path }, `${places.length} servers; a gateway has ${mostServers} at most`);
  return places;
}

/** Parts that are made of all servers of a person, lists and views, are made in one turn of the event loop. */
const mostServers = 2_000;

/**
 * The objects that hold server entries, whichever client's key they stand under. null is how programs write that there
 * are none; anything else that is no object may be servers that somebody lost.
 */
export function serverObjects(document: Document): Path[] {
  const candidates: Path[] = [["mcpServers"], ["servers"], ["mcp", "servers"], ["mcp", "mcpServers"]];
  return candidates.filter((path) => (document.kind(path) ?? "null") !== "null");
}

/** Real files have a few dozen keys at the top. Each is compared with every known name. */
const mostCompared = 200;

/**
 * Servers under a key that is not read here. An empty gateway without any message would be the wrong answer to them.
 */
function elsewhere(document: Document): string[] {
  const keys = document.keys([]).slice(0, mostCompared);
  return keys.flatMap((key) => {
    const value = document.value([key]);
    const why = isObject(value) ? whoseServers(key, value) : undefined;
    return why === undefined ? [] : [problemAt({ document, path: [key] }, why)];
  });
}

function whoseServers(key: string, value: Readonly<Record<string, unknown>>): string | undefined {
  if (key === "context_servers") return `this is Zed's configuration; ${copyServers}`;
  if (key === "mcp" && Object.values(value).some(isOpenCodeEntry))
    return `this is OpenCode's configuration; ${copyServers}`;
  const meant = knownTop.includes(key) ? undefined : nearestName(key, ["mcpServers", "servers"]);
  return meant && `nothing is read from here; did you mean \`${meant}\`?`;
}

/** `{ "type": "local", "command": ["npx", …] }` or `{ "type": "remote", "url": … }`. */
function isOpenCodeEntry(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  return Array.isArray(entry["command"]) || entry["type"] === "local" || entry["type"] === "remote";
}

/**
 * Which servers are switched off outside their entries. Gemini does so under `mcp`: those in `excluded`, and with
 * `allowed` all that it does not name.
 */
export function switchedOffIn(document: Document): (key: string) => boolean {
  const [excluded, allowed] = ["excluded", "allowed"].map((list) => {
    const value = document.value(["mcp", list]);
    return Array.isArray(value) ? new Set<unknown>(value) : undefined;
  });
  return (key) => excluded?.has(key) === true || allowed?.has(key) === false;
}

const knownTop: readonly string[] = [
  "mcpServers",
  "servers",
  "mcp",
  "toolyard",
  "namespaceSupport",
  "performance",
  "inputs",
  "$schema",
];

/**
 * Settings under a misspelt key such as `toolyrd` would not be in force, among them those that decide who has access.
 * A warning is not enough for that. Throws InvalidConfig.
 */
export function refuseMisspeltSettings(document: Document): void {
  if (document.kind(["toolyard"]) !== undefined) return;
  const key = document
    .keys([])
    .slice(0, mostCompared)
    .find((name) => nearestName(name, ["toolyard"]) !== undefined && document.kind([name]) === "object");
  if (key !== undefined)
    throw new InvalidConfig([problemAt({ document, path: [key] }, "unknown settings; did you mean `toolyard`?")]);
}

/**
 * Other clients keep much else in the same file, so that unknown fields beside the servers make one warning rather
 * than fifty.
 */
export function unknownTopFields(document: Document): string[] {
  const unknown = document.keys([]).filter((key) => !knownTop.includes(key));
  const meant = unknown.slice(0, mostCompared).flatMap((key) => {
    const nearest = nearestName(key, knownTop);
    return nearest === undefined
      ? []
      : [
          {
            key,
            warning: problemAt({ document, path: [key] }, `unknown field, ignored; did you mean \`${nearest}\`?`),
          },
        ];
  });
  const told = new Set(meant.map(({ key }) => key));
  const others = unknown.filter((key) => !told.has(key));
  const first = others[0];
  const warnings = meant.map(({ warning }) => warning);
  if (first === undefined) return warnings;
  const names = others.slice(0, 5).map((key) => pathText([key]));
  const more = others.length > names.length ? ` and ${others.length - names.length} more` : "";
  return [...warnings, `${document.place([first])}: unknown fields, ignored: ${names.join(", ")}${more}`];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
