import type { View } from "../../model/view.ts";
import { toNativeUri } from "../../model/resource-uri.ts";
import type { ServerSlug } from "../../../kernel/ids.ts";
import type { Exposure } from "../exposure.ts";
import type { ExposureRequest, Intent } from "../intent.ts";
import { describeServers } from "./instructions.ts";
import { renderShared } from "./meta.ts";
import {
  listNative,
  resolveCompletion,
  resolvePrompt,
  resolveRead,
  toListedTool,
  toListing,
  toolFor,
} from "../native.ts";
import { resolveOffered } from "../text/tool-lookup.ts";

/** Every tool as `server-tool` (docs/exposures/flat.md). */
export const flatExposure: Exposure = Object.freeze({
  name: "flat",
  toolsChange: true,
  spelling: "flat",
  showsDefinitions: true,
  list(view, kind, reader) {
    if (kind !== "tools") return listNative(view, kind);
    const shown = view.servers.filter((server) => server.shown);
    return toListing(
      shown,
      shown.flatMap((server) =>
        server.tools.map((tool) =>
          toListedTool(toolFor(reader?.era, tool.definition), view.names.flatName(tool), server),
        ),
      ),
    );
  },
  resolve: resolveFlat,
  render: renderShared,
  toUri: (server, uri) => toNativeUri(server as ServerSlug, uri),
  instructions: (view) =>
    describeServers(view, "Toolyard offers the tools of these MCP servers; each tool's name begins with its server."),
  isTransparent: false,
  transparent: () => undefined,
} satisfies Exposure);

function resolveFlat(view: View, request: ExposureRequest): Intent {
  switch (request.method) {
    case "tools/call":
      return resolveOffered(view, request.name, request.arguments, {
        listing: "flat",
        nameOf: (tool) => view.names.flatName(tool),
        hint: "List the tools to see what exists.",
      });
    case "resources/read":
      return resolveRead(view, request.uri, "native");
    case "prompts/get":
      return resolvePrompt(view, request.name, request.arguments);
    case "completion/complete":
      return resolveCompletion(view, request.ref);
  }
}
