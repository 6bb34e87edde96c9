import { describe, expect, test } from "vitest";
import type { InstanceId, PrincipalId, ServerSlug } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import { isContent, shareOf } from "./event-json.ts";

const person = (id: string, ...roles: string[]): Principal => ({
  id: id as PrincipalId,
  team: "red",
  roles,
  scopes: [],
  user: null,
  via: "config",
});
const anna = person("anna");
const bert = person("bert");
const admin = person("root", "user", "admin");

const about = (principal: string | undefined) => ({
  atMs: 1,
  instance: "srv" as InstanceId,
  server: "srv" as ServerSlug,
  installation: "srv" as InstanceId,
  principal: principal as PrincipalId | undefined,
  team: "red",
});
const dormant = (of?: string): PublishedEvent => ({ type: "mcp.server.dormant", idleMs: 1, ...about(of) });
const updated = (of?: string): PublishedEvent => ({ type: "resource.updated", uri: "note://1", ...about(of) });
const mismatch = (of?: string): PublishedEvent => ({
  type: "result.schema_mismatch",
  tool: "srv:a",
  reason: "`b` must be a string",
  ...about(of),
});
const refused: PublishedEvent = { type: "config.refused", atMs: 1, file: "f", reason: "r" };

describe("of an event", () => {
  test.each<[string, PublishedEvent, (string | undefined)[]]>([
    ["about the gateway, an admin sees all and others nothing", refused, [undefined, undefined, "whole"]],
    ["about a shared instance, everybody sees all", dormant(), ["whole", "whole", "whole"]],
    ["about one's own, one sees all and an admin that it was", dormant("anna"), ["whole", undefined, "metadata"]],
    ["about an admin's own, that admin alone sees anything", dormant("root"), [undefined, undefined, "whole"]],
    ["that somebody's subscription led to, others see that it was", updated(), ["metadata", "metadata", "whole"]],
    ["that somebody's call led to, others see that it was", mismatch(), ["metadata", "metadata", "whole"]],
    ["that one's own server sent, one sees all", updated("anna"), ["whole", undefined, "metadata"]],
  ])("%s", (_title, event, shares) => {
    expect([anna, bert, admin].map((principal) => shareOf(event, principal))).toEqual(shares);
  });

  test("about what a team shares, that team sees all, an admin that it was, and another team nothing", () => {
    const ofBlue = { ...dormant(), team: "blue" } as PublishedEvent;
    const cid = { ...person("cid"), team: "blue" };
    expect([cid, anna, admin].map((principal) => shareOf(ofBlue, principal))).toEqual(["whole", undefined, "metadata"]);
    const ofAll = { ...dormant(), team: undefined } as PublishedEvent;
    expect([cid, anna].map((principal) => shareOf(ofAll, principal))).toEqual(["whole", "whole"]);
  });

  test("the team alone opens nothing of another's", () => {
    expect(anna.team).toBe(bert.team);
    expect(shareOf(dormant("anna"), bert)).toBeUndefined();
  });
});

describe("content of an event is", () => {
  test("what names or holds something of a person, and not when or where it was", () => {
    for (const member of ["type", "atMs", "instance", "server"]) {
      expect(isContent(mismatch(), member)).toBe(false);
      expect(isContent(updated(), member)).toBe(false);
    }
    expect(isContent(mismatch(), "tool")).toBe(true);
    expect(isContent(mismatch(), "reason")).toBe(true);
    expect(isContent(updated(), "uri")).toBe(true);
    // A reason of the gateway itself is none.
    expect(isContent(refused, "reason")).toBe(false);
  });

  test("everything of a request that is not known to be none, a member that is added later included", () => {
    const request = { type: "mcp.request.logs" } as PublishedEvent;
    for (const member of ["name", "path", "client", "arguments", "addedLater"])
      expect(isContent(request, member)).toBe(true);
    for (const member of ["method", "durationMs", "outcome", "resultBytes", "serverCode"])
      expect(isContent(request, member)).toBe(false);
  });
});
