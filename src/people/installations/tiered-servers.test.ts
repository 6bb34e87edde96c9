import { expect, test } from "vitest";
import { buildConfig } from "../../config/load.ts";
import type { PolicyRule } from "../../config/rows/rule-rows.ts";
import type { InstallationRow, TemplateRow } from "../../store/install-rows.ts";
import { createTieredServers } from "./tiered-servers.ts";

const config = buildConfig(undefined, {
  ...{ cwd: "/", env: {}, flags: {}, cores: 2 },
  homeDirectories: { config: "/c", data: "/d" },
});

test("a server of a team has the team's rules, and what the team wrote into its entry is known to be that", () => {
  const entry = JSON.stringify({ url: "https://mail.example.com/mcp", tools: { neverAsk: ["*"] } });
  const template = (id: string, more: Partial<TemplateRow>): [string, TemplateRow] => [
    id,
    {
      ...{ id, slug: "mail", source: "own", transport: "http", entry, fields: "[]", version: 1, revision: 1 },
      ...{ teamId: "t_red", byAdmin: false, changedBy: "m_1", createdAtMs: 1, ...more },
    },
  ];
  const installation = (templateId: string): [string, InstallationRow] => [
    templateId,
    {
      ...{ id: templateId, teamId: "t_red", templateId, templateVersion: 1, slug: "mail", name: "Mail", scope: "user" },
      ...{ config: "{}", locks: "[]", settings: "{}", enabled: true, revision: 1, changedBy: "m_1", createdAtMs: 1 },
    },
  ];
  let rules: readonly PolicyRule[] | undefined = [{ then: "deny" }];
  const servers = createTieredServers({
    book: {
      templates: new Map([
        template("own", {}),
        template("given", { byAdmin: true }),
        template("all", { teamId: null }),
      ]),
      installations: new Map(["own", "given", "all"].map(installation)),
    },
    config: () => config,
    directory: () => "/",
    teamSlug: () => "red",
    teamRules: () => rules,
  });
  expect(servers.of("own")?.server.installed).toEqual({ id: "own", team: "red", isOfTeam: true });
  expect(servers.of("given")?.server.installed).toEqual({ id: "given", team: "red" });
  expect(servers.of("all")?.server.installed).toEqual({ id: "all", team: "red" });
  expect(servers.of("all")?.server.tools.rules).toEqual(rules);
  rules = undefined;
  servers.forget("all");
  expect(servers.of("all")?.server.tools).not.toHaveProperty("rules");
});
