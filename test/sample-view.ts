import { createViews, type ServerStanding, type View } from "../src/catalog/view.ts";
import { emptyCatalog, withInstance, type InstanceCatalog } from "../src/catalog/snapshot.ts";
import type { InstanceId, ServerSlug } from "../src/shared/ids.ts";
import { localPrincipal } from "../src/shared/principal.ts";

/** A server as the local principal would see it: online, unless told otherwise. */
export function sampleStanding(slug: string, more: Partial<ServerStanding> = {}): ServerStanding {
  return {
    slug: slug as ServerSlug,
    title: slug,
    namespace: slug.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_"),
    category: undefined,
    icon: undefined,
    priority: "normal",
    transport: "stdio",
    instance: slug as InstanceId,
    status: "online",
    dormant: false,
    reason: "",
    shown: true,
    ...more,
  };
}

/** A view of these parts, and of servers that offer nothing yet. */
export function sampleView(
  parts: readonly InstanceCatalog[],
  standings: readonly ServerStanding[] = parts.map((part) => sampleStanding(part.server)),
): View {
  const catalog = parts.reduce(withInstance, emptyCatalog);
  return createViews(
    () => catalog,
    { statusVersion: 0, standings: () => standings },
    () => true,
  )(localPrincipal);
}
