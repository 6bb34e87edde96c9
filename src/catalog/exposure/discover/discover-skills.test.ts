import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { sampleCatalog, sampleSkill } from "../../../../test/sample-catalog.ts";
import { renderDiscover, type DiscoverFindings } from "./discover-answer.ts";
import { renderSkills, type SkillHit } from "./discover-skills.ts";

const tools = sampleCatalog().flatMap((part) => part.tools);

function found(name: string, description: string, more: Partial<SkillHit> = {}): SkillHit {
  return {
    skill: sampleSkill("github", { name, description }),
    serverTitle: "GitHub",
    distance: 0.2,
    tools: [],
    ...more,
  };
}

function findings(more: Partial<DiscoverFindings> = {}): DiscoverFindings {
  const hits = tools.map((tool) => ({ tool, serverTitle: tool.server, transport: "stdio" as const, distance: 0.1 }));
  const needs = [{ query: "create an issue", match: "good" as const, hits }];
  return { needs, grouped: false, detail: "signature", totalFound: hits.length, searchTimeMs: 1, ...more };
}

describe("an answer of discover", () => {
  test("without skills is the same to the byte, whether they were looked for or not", () => {
    const plain = renderDiscover(findings());
    expect(renderDiscover(findings({ skills: [] }))).toBe(plain);
    expect(plain).not.toContain("skill");
  });

  test("with skills has the same tools, and beside them what to read and call", () => {
    const plain = JSON.parse(renderDiscover(findings())) as Record<string, unknown>;
    const skill = found("triage", "Sorts new issues.", { tools: ["github:create_issue"] });
    const { skills, hint, ...rest } = JSON.parse(renderDiscover(findings({ skills: [skill] }))) as Record<
      string,
      unknown
    >;
    expect({ ...rest, hint: plain["hint"] }).toEqual({ ...plain, hint: plain["hint"] });
    expect(skills).toEqual([
      {
        kind: "skill",
        uri: "skill://github/triage/SKILL.md",
        name: "triage",
        description: "Sorts new issues.",
        server_name: "GitHub",
        relevance_score: 0.2,
        tools: ["github:create_issue"],
      },
    ]);
    expect(hint).toContain("read_mcp_resource");
  });

  test.each([300, 600, 1_200, 4_000])("fits %d tokens with skills of any length", (maxTokens) => {
    const long = "Explains at length what is to be done, and why. ".repeat(200);
    const skills = ["one", "two", "three"].map((name) => found(name, long, { tools: tools.map(({ path }) => path) }));
    for (const detail of ["names", "signature", "schema"] as const) {
      const text = renderDiscover(findings({ skills, detail, maxTokens }));
      expect(countTokens(text)).toBeLessThanOrEqual(maxTokens);
      expect(() => JSON.parse(text) as unknown).not.toThrow();
    }
  });
});

test("skills of a list of names are addresses and the tools that they name", () => {
  const { member } = renderSkills([found("triage", "Sorts", { tools: ["a:b"] })], "names", 1_000);
  expect(member).toBe('"skills":[{"kind":"skill","uri":"skill://github/triage/SKILL.md","tools":["a:b"]}]');
});

test("hidden characters of a skill's texts reach nobody, and are told of", () => {
  const hidden = found("triage", "Sorts\u{E0049}\u{E0067} new\u200B issues", { serverTitle: "Git\u202EHub" });
  const { member = "" } = renderSkills([hidden], "signature", 1_000);
  expect(member).not.toMatch(/[\u200B\u202E]|\uDB40/u);
  expect(member).toContain("hidden characters removed");
});

test("no skill is shown where there is no room for it, and nothing is charged", () => {
  expect(renderSkills([found("triage", "Sorts")], "signature", 20)).toEqual({
    member: undefined,
    hints: [],
    tokens: 0,
  });
});
