import { createHash } from "node:crypto";
import type { PrincipalId, ServerSlug, ToolPath } from "../../kernel/ids.ts";
import { offersSkills } from "../model/skill-extension.ts";
import type { InstanceCatalog, SkillEntry, ToolEntry } from "../model/snapshot.ts";
import { confidenceWeights } from "../search/rank/confidence.ts";
import { readQuery, type SearchEngine } from "./engine.ts";

/** A skill that may fit the query. `distance` is as that of a tool: 0 a perfect match, 1 none. */
export interface FoundSkill {
  readonly skill: SkillEntry;
  readonly distance: number;
}

export interface SkillRequest {
  readonly principal: PrincipalId;
  /** The servers that are searched, always as the same array for the same view. */
  readonly parts: readonly InstanceCatalog[];
  readonly queries: readonly string[];
  readonly server: ServerSlug | undefined;
}

/** Skills for these needs, best first, each once. Resolves to none at once where no server has any. */
export type FindSkills = (request: SkillRequest, signal: AbortSignal) => Promise<readonly FoundSkill[]>;

/** Skills in one answer. A skill is read before it is used, and a reader takes in only a few. */
const skillLimit = 3;

/**
 * Searches skills as if each were a tool. `engine` must be a separate one that learns nothing: skills must not
 * influence the search of tools, neither by their words nor by their number.
 */
export function createFindSkills(engine: SearchEngine): FindSkills {
  const standIns = createStandIns();
  return async ({ principal, parts, queries, server }, signal) => {
    const searched = standIns.of(parts);
    const best = new Map<SkillEntry, number>();
    for (const given of searched.length === 0 ? [] : queries) {
      const { query } = readQuery(given);
      const options = { limit: skillLimit, ...(server === undefined ? {} : { server }) };
      const { tools } = await engine.search({ principal, parts: searched, query, ...options }, signal);
      for (const { tool, distance } of tools) {
        const skill = standIns.skillOf(tool);
        if (skill === undefined || 1 - distance < confidenceWeights.weakFrom) continue;
        best.set(skill, Math.min(distance, best.get(skill) ?? 1));
      }
    }
    return [...best]
      .map(([skill, distance]) => ({ skill, distance }))
      .sort((left, right) => left.distance - right.distance)
      .slice(0, skillLimit);
  };
}

interface StandIns {
  /** The skills of these parts as tools of theirs: the same array for the same array. */
  of(parts: readonly InstanceCatalog[]): readonly InstanceCatalog[];
  skillOf(tool: ToolEntry): SkillEntry | undefined;
}

function createStandIns(): StandIns {
  const byParts = new WeakMap<readonly InstanceCatalog[], readonly InstanceCatalog[]>();
  const byPart = new WeakMap<InstanceCatalog, InstanceCatalog>();
  /** Equal lists are one object (`model/current.ts`), so that they are indexed once. */
  const toolsOf = new WeakMap<readonly SkillEntry[], readonly ToolEntry[]>();
  const skills = new WeakMap<ToolEntry, SkillEntry>();

  function toTools(list: readonly SkillEntry[]): readonly ToolEntry[] {
    const known = toolsOf.get(list);
    if (known !== undefined) return known;
    const tools = list.map((skill) => {
      const tool = toStandIn(skill);
      skills.set(tool, skill);
      return tool;
    });
    toolsOf.set(list, tools);
    return tools;
  }

  function toPart(part: InstanceCatalog): InstanceCatalog {
    const known = byPart.get(part);
    if (known !== undefined) return known;
    // What a server says of itself is about its tools: with it, all its skills would be found for any of them.
    const standIn = { ...part, instructions: undefined, serverInfo: {}, tools: toTools(part.skills) };
    byPart.set(part, standIn);
    return standIn;
  }

  return {
    of(parts) {
      let known = byParts.get(parts);
      if (known === undefined) {
        known = parts.filter((part) => offersSkills(part) && part.skills.length > 0).map(toPart);
        byParts.set(parts, known);
      }
      return known;
    },
    skillOf: (tool) => skills.get(tool),
  };
}

function toStandIn({ server, definition: { uri, frontmatter } }: SkillEntry): ToolEntry {
  const { name, description } = frontmatter;
  return {
    server,
    upstreamName: uri,
    path: `${server}:${uri}` as ToolPath,
    definition: { name, description, inputSchema: { type: "object" } },
    hash: createHash("sha256").update(`${uri}\n${name}\n${description}`).digest("hex"),
  };
}
