import type { InstanceId } from "../../kernel/ids.ts";
import { type InstanceCatalog, digestOf } from "./snapshot.ts";
import { createHash } from "node:crypto";
import { stringifyExact } from "../../wire/json/exact-json.ts";

/**
 * What every instance offers now. Made by `app`; instances write it, and readers keep the snapshot that they were
 * given.
 */
export interface CurrentCatalog {
  get(instance: InstanceId): InstanceCatalog | undefined;
  put(part: InstanceCatalog): void;
  remove(instance: InstanceId): void;
}

/** Begins with an empty catalog. */
export function createCurrentCatalog(): CurrentCatalog {
  const parts = new Map<InstanceId, InstanceCatalog>();
  const lists = createSharedLists();

  function remove(instance: InstanceId): void {
    const before = parts.get(instance);
    if (before === undefined) return;
    parts.delete(instance);
    lists.release(before);
  }

  return {
    get: (instance) => parts.get(instance),
    put(part) {
      // A list that is there already must not be dropped between the two.
      const shared = lists.share(part);
      remove(part.instance);
      parts.set(part.instance, shared);
    },
    remove,
  };
}

/**
 * Holds every list once, however many instances offer it: five hundred people with the same ten servers hold ten lists
 * of tools, not five thousand, and everything derived from a list (an index, a table of names) is made once. Told by
 * content and by the name of the server, because paths have it in them; forgotten when the last instance lets go.
 */
export interface SharedLists {
  /** The same part with the lists that others hold already. Each part is to be released in the end. */
  share(part: InstanceCatalog): InstanceCatalog;
  release(part: InstanceCatalog): void;
}

interface Held {
  readonly value: unknown;
  holders: number;
}

export function createSharedLists(): SharedLists {
  const held = new Map<string, Held>();
  const keysOf = new WeakMap<InstanceCatalog, readonly string[]>();

  function hold<T>(key: string, value: T): T {
    const known = held.get(key);
    if (known === undefined) held.set(key, { value, holders: 1 });
    else known.holders += 1;
    return (known?.value ?? value) as T;
  }

  return {
    share(part) {
      const keys = keysFor(part);
      const about = aboutOf(part);
      const shared: InstanceCatalog = Object.freeze({
        ...part,
        ...hold(keys.about, about),
        tools: hold(keys.tools, part.tools),
        resources: hold(keys.resources, part.resources),
        templates: hold(keys.templates, part.templates),
        prompts: hold(keys.prompts, part.prompts),
        skills: hold(keys.skills, part.skills),
      });
      keysOf.set(shared, Object.values(keys));
      return shared;
    },
    release(part) {
      for (const key of keysOf.get(part) ?? []) {
        const entry = held.get(key);
        if (entry === undefined) continue;
        entry.holders -= 1;
        if (entry.holders === 0) held.delete(key);
      }
      keysOf.delete(part);
    },
  };
}

type Shared = "tools" | "resources" | "templates" | "prompts" | "skills" | "about";

function keysFor(part: InstanceCatalog): Record<Shared, string> {
  const { server, tools, resources, templates, prompts, skills } = part;
  const definitions = (entries: readonly { readonly definition: object }[]): unknown =>
    entries.map(({ definition }) => digestOf(definition));
  const key = (kind: Shared, content: unknown): string =>
    createHash("sha256")
      .update(stringifyExact([kind, server, content]))
      .digest("base64");
  return {
    tools: key(
      "tools",
      tools.map(({ upstreamName, hash, held: why }) => [upstreamName, hash, why ?? null]),
    ),
    resources: key("resources", definitions(resources)),
    templates: key("templates", definitions(templates)),
    prompts: key("prompts", definitions(prompts)),
    skills: key("skills", definitions(skills)),
    about: key("about", aboutOf(part)),
  };
}

/** What a server says of itself: some write pages of instructions. */
function aboutOf({ serverInfo, instructions, capabilities, eras }: InstanceCatalog) {
  return { serverInfo, instructions, capabilities, eras };
}
