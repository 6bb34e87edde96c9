import { describe, expect, test } from "vitest";

import { sampleCatalog, sampleInstance } from "../../../../test/sample-catalog.ts";
import type { InstanceCatalog } from "../../model/snapshot.ts";
import { buildIndexPart } from "../index/index-part.ts";
import { createLanguage } from "../language.ts";
import { mergeParts } from "../index/merge.ts";
import { search } from "../rank.ts";
import { rankingWeights } from "./weights.ts";

const language = createLanguage();

function finder(parts: readonly InstanceCatalog[]): (query: string) => string[] {
  const index = mergeParts(
    parts.map((part) => buildIndexPart(part, language)),
    language,
  );
  return (query) => search(index, query, { limit: 1_000, keepAll: true }).tools.map(({ tool }) => tool.path);
}

const said = (phrases: readonly string[]) => ({ _meta: { "toolyard/phrases": phrases } });

test("a tool is found by what people say, though none of its own texts has a word of it", () => {
  const query = "my trousers are too long";
  const tailor = (more: object) => sampleInstance("atelier", [{ name: "shorten", description: "Hems", ...more }]);
  expect(finder([...sampleCatalog(), tailor({})])(query)).not.toContain("atelier:shorten");
  expect(finder([...sampleCatalog(), tailor(said(["trousers that are too long"]))])(query)[0]).toBe("atelier:shorten");
});

test("phrases count for their tool, not for its neighbours on the same server", () => {
  const atelier = sampleInstance("atelier", [
    { name: "shorten", description: "Hems", ...said(["trousers that are too long"]) },
    { name: "dye", description: "Colours" },
  ]);
  expect(finder([atelier])("my trousers are too long")).toEqual(["atelier:shorten"]);
});

test("two tools that differ by their phrases only are told apart by them", () => {
  const twins = sampleInstance("post", [
    { name: "send_a", description: "Sends it", ...said(["a parcel to a friend"]) },
    { name: "send_b", description: "Sends it", ...said(["a postcard from the beach"]) },
  ]);
  expect(finder([twins])("send a postcard")[0]).toBe("post:send_b");
  expect(finder([twins])("send a parcel")[0]).toBe("post:send_a");
});

describe("a word that only hints at what phrases say", () => {
  const umbrellas = sampleInstance("shop", [
    { name: "advise", description: "Advises", ...said(["what is the weather like"]) },
    { name: "other", description: "Does something else" },
  ]);
  const scoreOf = (query: string, relatedInPhrases: number): number | undefined => {
    const weighted = createLanguage({ ...rankingWeights, relatedInPhrases });
    const index = mergeParts([buildIndexPart(umbrellas, weighted)], weighted);
    return search(index, query, { limit: 1 }).tools[0]?.score;
  };

  test("finds the tool, and counts less than where its own texts say so", () => {
    const { relatedInPhrases } = rankingWeights;
    expect(relatedInPhrases).toBeLessThan(1);
    expect(finder([umbrellas])("umbrella")).toEqual(["shop:advise"]);
    expect(scoreOf("umbrella", relatedInPhrases)).toBeLessThan(scoreOf("umbrella", 1) as number);
    expect(scoreOf("umbrella", 0)).toBeUndefined();
  });

  test("takes nothing from the very words", () => {
    expect(scoreOf("weather", rankingWeights.relatedInPhrases)).toBe(scoreOf("weather", 1));
    expect(scoreOf("weather", 0)).toBe(scoreOf("weather", 1));
  });
});

function silenced(part: InstanceCatalog): InstanceCatalog {
  const tools = part.tools.map(({ definition: { name, description = "" } }) => ({ name, description }));
  return sampleInstance(part.server, tools);
}

describe("a server that shouts", () => {
  const brands =
    "GitHub GitLab Slack Notion Jira Trello Asana Linear Figma Stripe Shopify Airtable Dropbox Google Gmail Outlook " +
    "Teams Zoom Discord Telegram Twitter Reddit YouTube Spotify Netflix Amazon AWS Azure Cloudflare DigitalOcean " +
    "Heroku Vercel Netlify Docker Kubernetes Terraform Jenkins CircleCI Sentry Datadog Grafana Prometheus Elastic " +
    "MongoDB Postgres MySQL Redis SQLite Snowflake BigQuery Databricks Salesforce HubSpot Zendesk Intercom Mailchimp " +
    "Twilio SendGrid PayPal Square Xero QuickBooks Wikipedia OpenAI Anthropic Weather Forecast Issue Repository " +
    "Message Channel Screenshot Browser Search File Folder Calendar Event Contact Invoice Payment Order Customer " +
    "Ticket Page Database Query Table Record Image Video Audio Map Route Flight Hotel Translate Summarise Send Create";
  const names = brands.split(" ");
  /** A hundred tools that each say as many brands as count, and together all of them. */
  const shouter = sampleInstance(
    "shouter",
    names.map((_, at) => {
      const rotated = [...names.slice(at), ...names.slice(0, at)];
      const phrases = [0, 1, 2, 3, 4, 5, 6, 7].map((line) => rotated.slice(12 * line, 12 * (line + 1)).join(" "));
      return { name: `do_it_${at}`, description: "Does it", ...said(phrases) };
    }),
  );
  /** As loud as what counts allows: six phrases of a hundred characters, chosen for one brand. */
  const fan = sampleInstance("fan", [
    { name: "do_it", description: "Does it", ...said(Array.from({ length: 9 }, () => "github ".repeat(14))) },
  ]);
  const queries = [
    "create an issue on github",
    "list the open issues of a github repository",
    "merge the pull request",
    "delete the repository",
    "weather forecast for Vienna",
    "post a message to the slack channel",
    "take a screenshot of the page",
    "search the web",
    "report a bug",
    "will it rain tomorrow",
  ];

  /** The same servers, saying nothing. */
  const quiet = finder([...sampleCatalog(), ...[shouter, fan].map(silenced)]);
  const loud = finder([...sampleCatalog(), shouter, fan]);

  test("changes no rank among the tools of others", () => {
    const others = (found: readonly string[]) => found.filter((path) => !/^(shouter|fan):/.test(path));
    for (const query of queries) {
      expect(loud(query).length, query).toBeGreaterThan(50);
      expect(others(loud(query)), query).toEqual(others(quiet(query)));
    }
  });

  test("does not come before the tool that is meant", () => {
    const find = loud;
    for (const query of queries) expect(find(query)[0], query).toBe(quiet(query)[0]);
    expect(
      find("github")
        .slice(0, 4)
        .every((path) => path.startsWith("github:")),
    ).toBe(true);
  });
});
