import type { ResourceDefinition } from "../../../kernel/call/definitions.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { toSkillUri } from "../../model/resource-uri.ts";
import type { InstanceCatalog, SkillEntry } from "../../model/snapshot.ts";
import type { ViewServer } from "../../model/view.ts";

/**
 * The resources that a server lists and, of its skills, every SKILL.md that it does not list there: what a client that
 * knows no skills can read of them (SEP-2640, resource metadata).
 */
export function listedResources(catalog: InstanceCatalog): readonly ResourceDefinition[] {
  const listed = catalog.resources.map(({ definition }) => definition);
  if (catalog.skills.length === 0) return listed;
  const known = new Set(listed.map(({ uri }) => uri));
  const skills = catalog.skills.filter(({ definition }) => !known.has(definition.uri));
  return [...listed, ...skills.map(toResource)];
}

function toResource({ definition: { uri, frontmatter } }: SkillEntry): ResourceDefinition {
  return { uri, name: frontmatter.name, description: frontmatter.description, mimeType: "text/markdown" };
}

const filesOf = new WeakMap<readonly SkillEntry[], ReadonlySet<string>>();

/** Whether a skill that the server lists has this file. */
export function hasSkillFile({ skills }: InstanceCatalog, uri: string): boolean {
  if (skills.length === 0) return false;
  let files = filesOf.get(skills);
  if (files === undefined)
    filesOf.set(skills, (files = new Set(skills.flatMap(({ definition }) => namedBy(definition)))));
  return files.has(uri);
}

function namedBy({ uri, resources }: SkillEntry["definition"]): readonly string[] {
  return resources === "dynamic" ? [uri] : resources.map((file) => file.uri);
}

/** The entries of a server's skills, as JSON text, under addresses that are unique in the view. */
export function skillItems(server: ViewServer, { skills }: InstanceCatalog): string[] {
  return skills.map(({ definition }) => {
    const { uri, resources, _meta } = definition;
    return asciiJson({
      ...definition,
      uri: toSkillUri(server.slug, uri),
      resources:
        resources === "dynamic"
          ? resources
          : resources.map((file) => ({ ...file, uri: toSkillUri(server.slug, file.uri) })),
      // Names are not unique across servers, and a host has to say whose skill it shows.
      _meta: { ...(isJsonObject(_meta) ? _meta : {}), "toolyard/server": server.slug } satisfies JsonObject,
    });
  });
}
