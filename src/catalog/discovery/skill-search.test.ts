import { expect, test } from "vitest";
import { sampleCatalog, sampleSkill, withSkills } from "../../../test/sample-catalog.ts";
import { sampleView } from "../../../test/sample-view.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import type { ServerSlug } from "../../kernel/ids.ts";
import type { InstanceCatalog } from "../model/snapshot.ts";
import { createLanguage } from "../search/language.ts";
import { createDiscovery, type Discovery } from "./discovery.ts";
import { createLexicalEngine } from "./lexical.ts";
import { createFindMeant } from "./server-intent.ts";
import { createFindSkills, type SkillRequest } from "./skill-search.ts";

const language = createLanguage();
const never = new AbortController().signal;
const engine = () => createLexicalEngine({ language });

const triage = sampleSkill("github", { name: "triage-issues", description: "How to sort new issues of a repository" });
const release = sampleSkill("github", { name: "release", description: "Steps for publishing a new version" });
const storm = sampleSkill("weather", { name: "storm-warning", description: "What to do when a storm is forecast" });

/** Five servers, two of them with skills. */
function parts(): InstanceCatalog[] {
  const skills = { github: [triage, release], weather: [storm] };
  return sampleCatalog().map((part) => {
    const own = Object.entries(skills).find(([server]) => server === part.server)?.[1];
    return own === undefined ? part : withSkills(part, own);
  });
}

async function find(queries: readonly string[], more: Partial<SkillRequest> = {}): Promise<string[]> {
  const request = { principal: localPrincipal.id, parts: parts(), queries, server: undefined, ...more };
  return (await createFindSkills(engine())(request, never)).map(({ skill }) => skill.definition.frontmatter.name);
}

test("a skill is found by what it says of itself, the best first", async () => {
  expect((await find(["sort new issues of a repository"]))[0]).toBe("triage-issues");
  expect((await find(["a storm is forecast"]))[0]).toBe("storm-warning");
});

test("several needs find the skills of each, every one once", async () => {
  const found = await find(["publish a new version", "sort new issues", "sort the new issues"]);
  expect(found.slice(0, 2).toSorted()).toEqual(["release", "triage-issues"]);
  expect(new Set(found).size).toBe(found.length);
});

test("nothing is found for a question that no skill is about, nor in a server without any", async () => {
  expect(await find(["translate a poem into Portuguese"])).toEqual([]);
  expect(await find(["sort new issues"], { server: "weather" as ServerSlug })).toEqual([]);
  expect(await find(["sort new issues"], { parts: sampleCatalog() })).toEqual([]);
});

test("skills of a server that no longer declares them are not found", async () => {
  const silent = parts().map((part) => ({ ...part, capabilities: {} }));
  expect(await find(["sort new issues"], { parts: silent })).toEqual([]);
});

function discoveryOf(): Discovery {
  return createDiscovery(async () => ({
    engine: engine(),
    memory: undefined,
    enrichment: undefined,
    findMeant: createFindMeant(engine()),
    findSkills: createFindSkills(engine()),
    phrasesOf: () => [],
    phraseSource: () => undefined,
    close: () => Promise.resolve(),
  }));
}

test("tools are found exactly as if there were no skills, however many of these say the same", async () => {
  const shouting = Array.from({ length: 300 }, (_, at) =>
    sampleSkill("github", { name: `shout-${at}`, description: "create a new issue, list issues, weather forecast" }),
  );
  const plain = sampleView(sampleCatalog());
  const loud = sampleView(sampleCatalog().map((part) => withSkills(part, part.server === "github" ? shouting : [])));
  for (const query of ["create an issue", "weather forecast for a city", "merge", "delete everything", "zzz"]) {
    const request = { queries: [query], limit: 10, server: undefined };
    const [without, withThem] = [
      await discoveryOf().search(plain, request, never),
      await discoveryOf().search(loud, request, never),
    ];
    const shown = ({ needs }: typeof without) =>
      needs.map(({ hits, ...need }) => ({ ...need, hits: hits.map(({ tool, distance }) => [tool.path, distance]) }));
    expect(shown(withThem)).toEqual(shown(without));
    expect(without.skills).toEqual([]);
    expect(withThem.skills.length).toBeLessThanOrEqual(3);
  }
});
