import type { SkillEntry, ToolEntry } from "../../model/snapshot.ts";
import type { View } from "../../model/view.ts";

/** Tools named beside one skill. */
const toolLimit = 8;
/** What of a frontmatter is looked at: an attack must not cost more than a description. */
const textLimit = 4_000;
const wordLimit = 500;

/** Fields in which authors list the tools that a skill works with; the first is that of the Agent Skills format. */
const toolFields = ["allowed-tools", "allowed_tools", "tools", "mcp-tools", "required-tools"] as const;

/** How some hosts spell an MCP tool: `mcp__server__tool`. */
const hostPrefix = "mcp__";

/**
 * The tools that a skill's frontmatter names and that exist here, in its order. Every name is looked up as it is
 * written: first among the tools of the skill's own server, then among all spellings that mean exactly one tool. A
 * skill that names a tool grants no right to it (SEP-2640, no implicit permission grants).
 *
 * @param visible whether models may see a tool.
 */
export function toolsNamedBy(
  { server, definition }: SkillEntry,
  view: View,
  visible: (tool: ToolEntry) => boolean,
): readonly ToolEntry[] {
  const own = view.server(server)?.tools ?? [];
  const found = new Set<ToolEntry>();
  for (const { name, isListed } of namesIn(definition.frontmatter)) {
    const tool = findTool(name, isListed, own, view);
    if (tool !== undefined && visible(tool)) found.add(tool);
    if (found.size >= toolLimit) break;
  }
  return [...found];
}

function findTool(name: string, isListed: boolean, own: readonly ToolEntry[], view: View): ToolEntry | undefined {
  // In a sentence, "search" is a word; in a list of tools it is one.
  if (isListed || isTelling(name)) {
    const tool = own.find((one) => one.upstreamName === name || one.definition.name === name);
    if (tool !== undefined) return tool;
  }
  for (const spelling of name.startsWith(hostPrefix) ? [name, name.slice(hostPrefix.length)] : [name]) {
    const found = view.names.find(spelling);
    // A bare name of another server's tool may be anybody's.
    if (found.kind === "one") return found.tool;
  }
  return undefined;
}

/** Whether a word is unlikely to be anything but a name: it has a mark or a capital inside. */
function isTelling(word: string): boolean {
  return /[^\p{L}]/u.test(word) || /\p{Ll}\p{Lu}/u.test(word);
}

interface Named {
  readonly name: string;
  readonly isListed: boolean;
}

const known = new WeakMap<object, readonly Named[]>();

function namesIn(frontmatter: SkillEntry["definition"]["frontmatter"]): readonly Named[] {
  let names = known.get(frontmatter);
  if (names === undefined) known.set(frontmatter, (names = readNames(frontmatter)));
  return names;
}

function readNames(frontmatter: SkillEntry["definition"]["frontmatter"]): readonly Named[] {
  const { metadata } = frontmatter;
  const owners = [frontmatter, ...(isRecord(metadata) ? [metadata] : [])];
  const listed = owners.flatMap((owner) => toolFields.flatMap((field) => itemsOf(owner[field])));
  const prose = wordsOf(frontmatter.description);
  return [
    ...listed.map((name) => ({ name, isListed: true })),
    ...prose.map((name) => ({ name, isListed: false })),
  ].slice(0, wordLimit);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The items of a list, or of a text such as `Read, Bash(git:*) mcp__github__create_issue`. */
function itemsOf(value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value.slice(0, wordLimit).flatMap((item) => (typeof item === "string" ? [item.trim()] : []));
  if (typeof value !== "string") return [];
  return value
    .slice(0, textLimit)
    .replace(/\([^()]*\)/g, " ")
    .split(/[\s,]+/)
    .filter((item) => item !== "");
}

/** What may be a name: without the marks of a sentence and of Markdown around it. */
function wordsOf(text: string): readonly string[] {
  return text
    .slice(0, textLimit)
    .split(/[\s,;()[\]`"'*]+/)
    .map((word) => word.replace(/[.:!?]+$/, ""))
    .filter((word) => word.length > 2 && isTelling(word));
}
