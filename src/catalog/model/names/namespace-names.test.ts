import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ServerSlug } from "../../../kernel/ids.ts";
import { describeCollision, resolveNamespaces } from "./namespace-names.ts";

const owner = (slug: string, namespace: string) => ({ slug: slug as ServerSlug, namespace });

describe("namespaces of servers", () => {
  test("one that nobody else has is as configured", () => {
    const { names, collisions } = resolveNamespaces([owner("gmail", "mail"), owner("github", "github")]);
    expect([...names.values()]).toEqual(["mail", "github"]);
    expect(collisions).toEqual([]);
  });

  test("one that two have belongs to neither, in whatever order they come; the warning names both", () => {
    const servers = [owner("gmail", "mail"), owner("outlook", "Mail"), owner("github", "github")];
    const { names, collisions } = resolveNamespaces(servers);
    expect(names.get("gmail" as ServerSlug)).toMatch(/^mail_[0-9a-f]{8}$/);
    expect(names.get("outlook" as ServerSlug)).toMatch(/^Mail_[0-9a-f]{8}$/);
    expect(resolveNamespaces([...servers].reverse()).names).toEqual(names);
    const [collision] = collisions;
    expect(collision === undefined ? "" : describeCollision(collision)).toMatch(
      /mail is that of gmail and outlook; .*gmail is mail_.*outlook is Mail_/,
    );
  });

  test("every server has one of its own, whatever they are called", () => {
    const slugs = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9._-]{0,10}$/), { maxLength: 30 });
    const wanted = fc.array(fc.constantFrom("a", "A", "b", "a_b", "x".repeat(48)), { minLength: 30, maxLength: 30 });
    fc.assert(
      fc.property(slugs, wanted, (all, namespaces) => {
        const { names } = resolveNamespaces(all.map((slug, index) => owner(slug, namespaces[index] ?? "a")));
        expect(names.size).toBe(all.length);
        expect(new Set([...names.values()].map((name) => name.toLowerCase())).size).toBe(all.length);
        for (const name of names.values()) expect(name.length).toBeLessThanOrEqual(48);
      }),
    );
  });
});
