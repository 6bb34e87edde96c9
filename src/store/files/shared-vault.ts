import type { SharedItem, SharedItems } from "../shared.ts";
import type { SecretStore } from "../store.ts";
import type { LoginSealing } from "./token-vault.ts";

export interface SharedVaultOptions {
  readonly items: SharedItems;
  readonly sealing: LoginSealing;
  /** Logins that this gateway kept before there was a database: each is moved when it is first looked for. */
  readonly files: SecretStore;
  /** The slug of the team to whose member an instance belongs. */
  readonly teamOf: (instance: string) => string | null;
  readonly now: () => number;
}

/** A login ends when somebody logs out, or its server says so. */
const never = Number.MAX_SAFE_INTEGER;
/** That somebody logged out is known for so long: no gateway brings the file of an earlier login by then. */
const goneMs = 90 * 86_400_000;

/**
 * Logins in the database that gateways share, encrypted as in files, with the same key. Those that were looked for are
 * in memory until another gateway changes them: as long as the database is away, they can be used, and not renewed.
 */
export function createSharedVault({ items, sealing, files, teamOf, now }: SharedVaultOptions): SecretStore {
  const known = new Map<string, SharedItem | undefined>();
  const listeners = new Set<() => void>();
  const load = createLoading(async (ids) => await items.read("login", ids));

  items.onChange("login", (ids) => {
    if (ids === undefined) known.clear();
    else for (const id of ids) known.delete(id);
    for (const listener of listeners) listener();
  });

  async function toItem(instance: string, text: string): Promise<SharedItem> {
    const about = (await sealing.seal(text, instance)).toString("base64");
    return { kind: "login", id: instance, team: teamOf(instance), about, expiresAtMs: never };
  }

  /** Undefined where it was never in the database. */
  async function find(instance: string): Promise<SharedItem | undefined> {
    if (known.has(instance)) return known.get(instance);
    let found = await load(instance);
    const older = found === undefined ? await files.read(instance) : undefined;
    if (older?.kind === "text") {
      await items.write({ newItems: [await toItem(instance, older.text)] });
      // Another gateway may have been first.
      [found] = await items.read("login", [instance]);
      await files.remove(instance);
    }
    known.set(instance, found);
    return found;
  }

  async function put(item: SharedItem): Promise<void> {
    // Whether it was written is not known where that fails.
    known.delete(item.id);
    await items.write({ items: [item] });
    known.set(item.id, item);
  }

  const isGone = (found: SharedItem | undefined): found is undefined => found === undefined || found.about === "";

  return {
    async read(instance) {
      const found = await find(instance);
      if (isGone(found)) return { kind: "none" };
      return await sealing.open(Buffer.from(found.about, "base64"), instance, "row");
    },
    write: async (instance, text) => await put(await toItem(instance, text)),
    async remove(instance) {
      const found = await find(instance);
      if (isGone(found)) return false;
      await put({ ...found, about: "", expiresAtMs: now() + goneMs });
      return true;
    },
    async revision(instance) {
      const found = await find(instance);
      // Each time that it is encrypted, it begins with other bytes.
      return isGone(found) ? undefined : found.about.slice(0, 64);
    },
    exclusively: async (instance, signal, work) =>
      await items.exclusively(`login ${instance}`, signal, async () => {
        // What another gateway did until now may not have been told yet.
        known.delete(instance);
        return await work();
      }),
    watch(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    fileOf: files.fileOf,
  };
}

/** Those that are wanted while others are read are read together: a gateway that starts wants all that it has. */
function createLoading(read: (ids: readonly string[]) => Promise<readonly SharedItem[]>) {
  let waiting: Set<string> | undefined;
  let next: Promise<ReadonlyMap<string, SharedItem>> | undefined;
  let running: Promise<unknown> = Promise.resolve();

  async function readWaiting(): Promise<ReadonlyMap<string, SharedItem>> {
    await running.catch(() => undefined);
    const ids = [...(waiting ?? [])];
    [waiting, next] = [undefined, undefined];
    const reading = read(ids);
    running = reading;
    return new Map((await reading).map((item) => [item.id, item]));
  }

  return async (id: string): Promise<SharedItem | undefined> => {
    (waiting ??= new Set()).add(id);
    next ??= readWaiting();
    return (await next).get(id);
  };
}
