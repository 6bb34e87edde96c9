import { expect, test } from "vitest";
import type { SecretStore } from "../../src/store/store.ts";
import { until } from "../harness/until.ts";

const never = new AbortController().signal;

/**
 * What every store of logins does.
 *
 * @param open one as another process would: nothing is shared with those opened before but what is kept
 */
export function testSecrets(open: (key?: string) => Promise<SecretStore>): void {
  test("for another process with the same key, bound to their instance, and nobody else", async () => {
    const secrets = await open("a passphrase");
    expect(await secrets.read("i")).toEqual({ kind: "none" });
    await secrets.write("i", "canary");
    expect(await (await open("a passphrase")).read("i")).toEqual({ kind: "text", text: "canary" });
    expect(await (await open("a passphrase")).read("I")).toEqual({ kind: "none" });
    expect(await (await open("another")).read("i")).toMatchObject({ kind: "unreadable" });
    expect(await (await open()).read("i")).toMatchObject({ kind: "unreadable" });
  });

  test("with a revision that each change changes, until they are removed", async () => {
    const secrets = await open();
    expect(await secrets.revision("i")).toBeUndefined();
    const seen = new Set<string | undefined>();
    for (const text of ["one", "two", "two"]) {
      await secrets.write("i", text);
      seen.add(await (await open()).revision("i"));
    }
    expect(seen.size).toBe(3);
    expect([await secrets.remove("i"), await secrets.remove("i")]).toEqual([true, false]);
    expect(await secrets.revision("i")).toBeUndefined();
    expect(await secrets.read("i")).toEqual({ kind: "none" });
  });

  test("and lets one at a time renew a login, also of several processes; who waits can give up", async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, async () => await open()));
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, (inside += 1));
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(stores.map(async (store) => await store.exclusively("i", never, work)));
    expect(most).toBe(1);
    const [first, second] = stores as [(typeof stores)[0], (typeof stores)[0]];
    const waiting = new AbortController();
    await first.exclusively("i", never, async () => {
      const refused = second.exclusively("i", waiting.signal, async () => "taken");
      await expect(second.exclusively("other", never, async () => "free")).resolves.toBe("free");
      waiting.abort(new Error("enough"));
      await expect(refused).rejects.toThrow("enough");
    });
  });

  test("and tells of logins of another process", async () => {
    const secrets = await open();
    let told = 0;
    const end = secrets.watch(() => (told += 1));
    await (await open()).write("i", "one");
    await until(() => told > 0 || undefined);
    end();
  });
}
