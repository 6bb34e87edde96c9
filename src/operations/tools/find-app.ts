import type { View, ViewServer } from "../../catalog/model/view.ts";
import { nearestNames } from "../../catalog/exposure/text/suggestions.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * Finds a server by any of its names: slug, namespace, display name. Throws SERVER_UNKNOWN with the closest names,
 * and TOOL_AMBIGUOUS with the namespaces when several servers have this display name.
 */
export function findApp(view: View, name: string, namespace?: string): ViewServer {
  const exact = view.server(name) ?? view.servers.find((server) => server.namespace === name);
  const named =
    exact === undefined
      ? view.servers.filter((server) => server.title === name || server.title.toLowerCase() === name.toLowerCase())
      : [exact];
  const found = namespace === undefined ? named : named.filter((server) => server.namespace === namespace);
  const [first] = found;
  if (first === undefined) {
    const known = view.servers.flatMap((server) => [server.slug as string, server.namespace]);
    throw new GatewayError(
      "SERVER_UNKNOWN",
      namespace === undefined || named.length === 0
        ? `there is no app ${quote(name)}`
        : `the app ${quote(name)} has no namespace ${quote(namespace)}`,
      {
        data: { closest: [...new Set(nearestNames(name, known, closestShown))] },
        hint: "GET /list/apps lists the apps.",
      },
    );
  }
  if (found.length > 1) {
    throw new GatewayError("TOOL_AMBIGUOUS", `${quote(name)} is the name of ${found.length} apps`, {
      data: { namespaces: found.map((server) => server.namespace) },
      hint: "Add ?namespace= with one of the listed ones.",
    });
  }
  return first;
}

const closestShown = 6;

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
