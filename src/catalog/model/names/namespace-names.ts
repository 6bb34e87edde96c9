import { createHash } from "node:crypto";
import type { InstanceId, ServerSlug } from "../../../kernel/ids.ts";

/** What decides the name of a server's namespace. */
export interface NamespaceOwner {
  readonly slug: ServerSlug;
  /** As configured, or the slug in snake case. */
  readonly namespace: string;
}

/** A namespace that several servers claim. None of them gets it; each gets one with a hash of its slug. */
export interface NamespaceCollision {
  readonly namespace: string;
  readonly servers: readonly ServerSlug[];
  /** The names given instead, in the same order. */
  readonly names: readonly string[];
}

export interface Namespaces {
  /** Unique, also when case is ignored. */
  readonly names: ReadonlyMap<ServerSlug, string>;
  readonly collisions: readonly NamespaceCollision[];
}

/** The namespaces that are loaded for one principal, by instance. Replaced with every change, never edited. */
export type LoadedNamespaces = ReadonlyMap<InstanceId, { readonly loadedAtMs: number }>;

export const noneLoaded: LoadedNamespaces = new Map();

const longest = 48;

/**
 * The namespace of every server. As with tools, a name that two servers claim belongs to neither, so that a server
 * added later never takes over a name that a client knows. The result does not depend on the order of the servers.
 */
export function resolveNamespaces(owners: readonly NamespaceOwner[]): Namespaces {
  const groups = new Map<string, NamespaceOwner[]>();
  for (const owner of owners) {
    const key = owner.namespace.toLowerCase();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [owner]);
    else group.push(owner);
  }
  const names = new Map<ServerSlug, string>();
  const collisions: NamespaceCollision[] = [];
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    if (group.length === 1) {
      names.set(first.slug, first.namespace);
      continue;
    }
    for (const owner of group) names.set(owner.slug, withSlugHash(owner, groups));
    collisions.push({
      namespace: first.namespace,
      servers: group.map((owner) => owner.slug),
      names: group.map((owner) => names.get(owner.slug) ?? owner.namespace),
    });
  }
  return { names, collisions };
}

function withSlugHash(owner: NamespaceOwner, taken: ReadonlyMap<string, unknown>): string {
  const hash = createHash("sha256").update(owner.slug).digest("hex");
  for (let digits = 8; ; digits += 8) {
    const name = `${owner.namespace.slice(0, longest - digits - 1)}_${hash.slice(0, digits)}`;
    if (!taken.has(name.toLowerCase()) || digits >= 32) return name;
  }
}

/** One sentence that names all servers of a collision. */
export function describeCollision(collision: NamespaceCollision): string {
  const renamed = collision.servers.map((slug, index) => `${slug} is ${collision.names[index] ?? ""}`).join(", ");
  return (
    `the namespace ${collision.namespace} is that of ${collision.servers.join(" and ")}; until one of them gets ` +
    `another \`namespace\`, ${renamed}`
  );
}
