import { stringifyExact } from "../../../wire/json/exact-json.ts";
import { toSkillUri } from "../../model/resource-uri.ts";
import type { SkillEntry } from "../../model/snapshot.ts";
import { cutAtWord, plainDescription, shortDescription } from "../text/discover-description.ts";
import type { Detail } from "./discover-result.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { escapeHidden } from "../text/visible-text.ts";

/** One skill that a search found. */
export interface SkillHit {
  readonly skill: SkillEntry;
  readonly serverTitle: string;
  /** 0 is a perfect match, 1 is none. */
  readonly distance: number;
  /** Paths of tools that it names and that exist here. */
  readonly tools: readonly string[];
}

/** What skills add to an answer. */
export interface RenderedSkills {
  /** `"skills":[...]`; undefined without any. */
  readonly member: string | undefined;
  /** What to do with them; empty without any. */
  readonly hints: readonly string[];
  /** What both cost. */
  readonly tokens: number;
}

const descriptionTokens = { names: 0, signature: 60, schema: 300 } as const;
const nameTokens = 12;
/** Tokens of all skills of an answer together: its tools matter more. */
const tokenLimit = 600;
const hint =
  "A skill is its server's instructions for a task: read its uri (read_mcp_resource) before calling its tools.";

const noSkills: RenderedSkills = Object.freeze({ member: undefined, hints: [], tokens: 0 });

/** `"skills":[{ kind, uri, name, description, server_name, relevance_score, tools? }]`, as many as fit. */
export function renderSkills(hits: readonly SkillHit[], detail: Detail, maxTokens: number): RenderedSkills {
  if (hits.length === 0) return noSkills;
  const hintTokens = estimateTokens(hint);
  let left = Math.min(tokenLimit, maxTokens) - hintTokens - 5;
  const texts: string[] = [];
  for (const hit of hits) {
    const text = escapeHidden(stringifyExact(toShown(hit, detail)));
    left -= estimateTokens(text) + 1;
    if (left < 0) break;
    texts.push(text);
  }
  if (texts.length === 0) return noSkills;
  const member = `"skills":[${texts.join(",")}]`;
  return { member, hints: [hint], tokens: estimateTokens(member) + hintTokens + 2 };
}

function toShown({ skill, serverTitle, distance, tools }: SkillHit, detail: Detail): object {
  const { uri, frontmatter } = skill.definition;
  const limit = descriptionTokens[detail];
  const { text, flagged } = shortDescription(frontmatter.description, limit);
  return {
    kind: "skill",
    uri: toSkillUri(skill.server, uri),
    ...(limit === 0
      ? {}
      : {
          name: cutAtWord(plainDescription(frontmatter.name).text, nameTokens),
          description: text,
          server_name: cutAtWord(plainDescription(serverTitle).text, nameTokens),
          relevance_score: Math.round(Math.min(1, Math.max(0, distance)) * 1000) / 1000,
        }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(flagged ? { flagged: "hidden characters removed" } : {}),
  };
}
