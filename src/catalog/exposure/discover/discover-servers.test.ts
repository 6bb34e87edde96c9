import { expect, test } from "vitest";
import { renderServers, type ServerLine, unavailableLine } from "./discover-servers.ts";
import { estimateTokens } from "../text/token-estimate.ts";

const servers: readonly ServerLine[] = [
  {
    server: "github",
    title: "GitHub",
    tools: 40,
    status: "online",
    about: "Works with repositories, issues and pull requests. Needs a token.",
  },
  { server: "memory", title: "memory", tools: 9, status: "dormant" },
  {
    server: "sentry",
    title: "Sentry",
    tools: 0,
    status: "requires_reauth",
    unavailable: unavailableLine({ server: "sentry", status: "requires_reauth" }),
  },
];

test("an empty query lists servers with counts and one line each", () => {
  const answer: unknown = JSON.parse(renderServers({ servers, searchTimeMs: 0.31 }));
  expect(answer).toMatchObject({
    servers: [
      {
        server: "github",
        title: "GitHub",
        tools: 40,
        status: "online",
        about: "Works with repositories, issues and pull requests. Needs a token.",
      },
      { server: "memory", tools: 9, status: "dormant" },
      {
        server: "sentry",
        tools: 0,
        status: "requires_reauth",
        reason: "It needs a login.",
        action: "Ask the user to run `toolyard login sentry`.",
      },
    ],
    total_servers: 3,
    total_tools: 49,
    tools: [],
    total_found: 0,
    query: "",
  });
});

test("many servers fit the budget, and those that do not are counted", () => {
  const many = Array.from({ length: 500 }, (_, at) => ({
    ...servers[0],
    server: `server-${at}`,
    title: `Server ${at}`,
    tools: 3,
    status: "online" as const,
  }));
  const text = renderServers({ servers: many, searchTimeMs: 1 });
  const answer = JSON.parse(text) as { servers: unknown[]; left_out: number };
  expect(estimateTokens(text)).toBeLessThanOrEqual(4000);
  expect(answer.servers.length).toBeGreaterThan(100);
  expect(answer.left_out + answer.servers.length).toBe(500);
});
