import { expect } from "vitest";
import type { OAuthItemRow } from "../../src/store/access-rows.ts";
import type { RecordStore } from "../../src/store/record-store.ts";

const dayMs = 86_400_000;
const nowMs = 1_000 * dayMs;
/** As `access-tables.ts` has it. */
const mostUnused = 10_000;

/** Apps that registered and never came back are kept in either database up to a number, the newest of them. */
export async function expectUnusedClientsGone({ access }: Pick<RecordStore, "access">): Promise<void> {
  const client = (hash: string, expiresAtMs: number): OAuthItemRow => ({
    ...{ kind: "Client", hash, grantId: null, lookup: null, scopes: null, audience: null, payload: "" },
    ...{ consumedAtMs: null, uses: 0, expiresAtMs },
  });
  const used = client("used", nowMs + 1);
  const ours = client("ours", nowMs + 36_500 * dayMs);
  const token = { ...client("token", nowMs + 1), kind: "RefreshToken" };
  await access.change({ items: [used, ours, token] }, []);
  // Later than it was, as with every use; but still before all others.
  await access.change({ prolonged: [{ kind: "Client", hash: "used", expiresAtMs: nowMs + 2 }] }, []);
  const unused = Array.from({ length: mostUnused + 50 }, (_, at) =>
    client(`app-${String(at).padStart(5, "0")}`, nowMs + dayMs + at),
  );
  for (let at = 0; at < unused.length; at += 1_000) await access.change({ items: unused.slice(at, at + 1_000) }, []);
  const listed = async (): Promise<readonly string[]> => {
    const hashes: string[] = [];
    for (let after: OAuthItemRow | undefined; ;) {
      const page = await access.oauthItems({ kind: "Client", nowMs, limit: 999, after });
      hashes.push(...page.map(({ hash }) => hash));
      after = page.at(-1);
      if (after === undefined) return hashes;
    }
  };
  expect(await listed()).toHaveLength(mostUnused + 52);
  await access.purgeAccess(nowMs);
  const left = await listed();
  expect([left[0], left[1], left.at(-2), left.at(-1)]).toEqual(["ours", "app-10049", "app-00050", "used"]);
  expect([left.length, new Set(left).size]).toEqual([mostUnused + 2, mostUnused + 2]);
  expect(await access.oauthItem({ kind: "RefreshToken", hash: "token" })).toBeDefined();
  // With the same time, none is left out between two pages.
  const twins = Array.from({ length: 5 }, (_, at) => client(`twin-${at}`, nowMs + 2 * dayMs));
  await access.change({ items: twins }, []);
  const first = await access.oauthItems({ kind: "Client", nowMs, limit: 3 });
  const next = await access.oauthItems({ kind: "Client", nowMs, limit: 3, after: first.at(-1) });
  expect([...first, ...next].map(({ hash }) => hash)).toEqual(["ours", ...twins.map(({ hash }) => hash)]);
  // Ninety days without use end it.
  await access.purgeAccess(nowMs + 100 * dayMs);
  expect(await listed()).toEqual(["ours"]);
}
