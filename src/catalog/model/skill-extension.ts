import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { InstanceCatalog } from "./snapshot.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";

/** The extension that declares skills (SEP-2640, capability declaration). */
export const skillExtension = "io.modelcontextprotocol/skills";

/** Its settings where a peer declares it, undefined where it does not. */
export function skillSettings(capabilities: JsonObject): JsonObject | undefined {
  const { extensions } = capabilities;
  const settings = isJsonObject(extensions) ? extensions[skillExtension] : undefined;
  return isJsonObject(settings) ? settings : undefined;
}

/** Whether an instance answers skills/list and skills/get. */
export function offersSkills(catalog: InstanceCatalog | undefined): catalog is InstanceCatalog {
  return catalog !== undefined && skillSettings(catalog.capabilities) !== undefined;
}

/** Whether it answers resources/directory/read too. */
export function readsDirectories({ capabilities }: InstanceCatalog): boolean {
  return skillSettings(capabilities)?.["directoryRead"] === true;
}

/**
 * What every host has to accept of one skill (SEP-2640, limits). A gateway that passed larger ones on would offer
 * what a host may refuse, and could not say how much memory a list takes.
 */
const mostFiles = 512;
const mostFileBytes = 16 * 2 ** 20;
/** Frontmatter is a label: a name of 64 characters, a description of 1,024, and a few fields more. */
const mostFrontmatterCharacters = 32_768;
const longestUri = 2_048;
const longestName = 64;
const skillFile = "/SKILL.md";
const digestForm = /^sha256:[0-9a-f]{64}$/;

/**
 * Why an entry of skills/list cannot be offered; undefined where it can. Hosts must not load a skill whose entry is
 * malformed (SEP-2640, resources), and one whose address ends in another name could pass for another skill.
 */
export function skillProblem(skill: JsonObject): string | undefined {
  const { uri, frontmatter, resources } = skill;
  if (typeof uri !== "string" || !uri.endsWith(skillFile)) return "its uri is not that of a SKILL.md";
  if (uri.length > longestUri) return `its uri is longer than ${longestUri} characters`;
  if (!isJsonObject(frontmatter)) return "has no frontmatter";
  return frontmatterProblem(frontmatter, uri) ?? filesProblem(resources, uri);
}

function frontmatterProblem(frontmatter: JsonObject, uri: string): string | undefined {
  const { name, description } = frontmatter;
  if (typeof name !== "string" || name === "") return "its frontmatter has no name";
  if (name.length > longestName) return `its name is longer than ${longestName} characters`;
  if (typeof description !== "string" || description.trim() === "") return "its frontmatter has no description";
  if (stringifyExact(frontmatter).length > mostFrontmatterCharacters)
    return `its frontmatter is longer than ${mostFrontmatterCharacters} characters`;
  return uri.endsWith(`/${name}${skillFile}`) || uri.endsWith(`/${encodeURIComponent(name)}${skillFile}`)
    ? undefined
    : "its name is not that of its folder";
}

function filesProblem(resources: unknown, uri: string): string | undefined {
  if (resources === "dynamic") return undefined;
  if (!Array.isArray(resources)) return "its resources are neither a list nor the word dynamic";
  if (resources.length > mostFiles) return `it has more than ${mostFiles} files`;
  const folder = uri.slice(0, 1 - skillFile.length);
  const seen = new Set<string>();
  let bytes = 0;
  for (const file of resources as readonly unknown[]) {
    const problem = isJsonObject(file) ? fileProblem(file, folder, seen) : "a file is no object";
    if (problem !== undefined) return problem;
    bytes += (file as { readonly size: number }).size;
  }
  if (!seen.has(uri)) return "its resources lack its SKILL.md";
  return bytes > mostFileBytes ? `its files take more than ${mostFileBytes} bytes` : undefined;
}

function fileProblem({ uri, digest, size }: JsonObject, folder: string, seen: Set<string>): string | undefined {
  if (typeof uri !== "string" || uri.length > longestUri || !uri.startsWith(folder) || uri === folder)
    return "a file is not in its folder";
  if (seen.has(uri)) return "a file is listed twice";
  seen.add(uri);
  if (typeof digest !== "string" || !digestForm.test(digest)) return "a file has no SHA-256 digest";
  return typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? undefined : "a file has no size";
}
