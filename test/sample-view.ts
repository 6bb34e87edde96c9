import type { StatusView, View } from "../src/catalog/model/view.ts";
import { createViews } from "../src/catalog/model/views.ts";
import type { InstanceCatalog } from "../src/catalog/model/snapshot.ts";
import type { InstanceId, ServerSlug } from "../src/kernel/ids.ts";
import { localPrincipal } from "../src/kernel/principal.ts";

/** A server as the local principal would see it: online, unless told otherwise. */
export function sampleStanding(slug: string, more: Partial<StatusView> = {}): StatusView {
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
  statusViews: readonly StatusView[] = parts.map((part) => sampleStanding(part.server)),
): View {
  const byInstance = new Map(parts.map((part) => [part.instance, part]));
  return createViews(
    { versionOf: () => 0, statusViews: () => statusViews, catalogOf: (id) => byInstance.get(id) },
    () => true,
  )(localPrincipal);
}
