import { expect, test } from "vitest";
import type { PrincipalId } from "../../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../../kernel/principal.ts";
import { createViewVersions } from "./fleet.ts";

const person = (id: string): Principal => ({ ...localPrincipal, id: id as PrincipalId });
const [alice, bob] = [person("alice"), person("bob")];

test("what happens to one person's instance moves that person's version only", () => {
  const versions = createViewVersions();
  const before = [versions.of(alice), versions.of(bob)];
  versions.noteChange({ owner: alice.id, team: undefined });
  expect(versions.of(alice)).toBeGreaterThan(before[0] as number);
  expect(versions.of(bob)).toBe(before[1]);
});

test("what happens to a shared instance moves everybody's", () => {
  const versions = createViewVersions();
  versions.noteChange({ owner: alice.id, team: undefined });
  const before = [versions.of(alice), versions.of(bob)];
  versions.noteChange({ owner: null, team: undefined });
  expect(versions.of(alice)).toBeGreaterThan(before[0] as number);
  expect(versions.of(bob)).toBeGreaterThan(before[1] as number);
});

test("no version comes twice, however many people there are", () => {
  const versions = createViewVersions();
  const seen = new Set<number>();
  for (let round = 0; round < 3; round += 1) {
    versions.noteChange({ owner: alice.id, team: undefined });
    expect(seen.has(versions.of(alice))).toBe(false);
    seen.add(versions.of(alice));
    for (let at = 0; at < 10_001; at += 1) {
      const before = versions.of(alice);
      versions.noteChange({ owner: `p${round}-${at}` as PrincipalId, team: undefined });
      expect(versions.of(alice)).toBeGreaterThanOrEqual(before);
    }
  }
});
