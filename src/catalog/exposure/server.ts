import { inProfile, type View, type ViewServer } from "../model/view.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import type { Exposure, ListKind, Reader } from "./exposure.ts";
import type { ExposureRequest, Intent } from "./intent.ts";
import { toListing, toolFor } from "./native.ts";
import { findHeldOf, heldPrompt, heldTool } from "./text/tool-lookup.ts";

/** One server unchanged: names, URIs and results (docs/exposures/server.md). */
export function createServerExposure(slug: string): Exposure {
  return createTransparentExposure(`server/${slug}`, (view) => {
    const server = view.server(slug);
    if (server === undefined)
      throw new GatewayError(
        "SERVER_UNKNOWN",
        `there is no server ${JSON.stringify(slug.slice(0, 80))}${inProfile(view)}`,
      );
    return server;
  });
}

/** The same for one instance. Only those with a token for it get here (docs/exposures/instance.md). */
export function createInstanceExposure(instance: string): Exposure {
  return createTransparentExposure(`instance/${instance}`, (view) => {
    const server = view.servers.find((candidate) => candidate.instance === instance);
    if (server === undefined) throw new GatewayError("SERVER_UNKNOWN", "there is no such instance");
    return server;
  });
}

function createTransparentExposure(name: string, serverOf: (view: View) => ViewServer): Exposure {
  return Object.freeze({
    name,
    toolsChange: true,
    list(view: View, kind: ListKind, reader?: Reader) {
      const server = serverOf(view);
      return toListing(
        [server],
        definitionsOf(server, kind, reader?.era).map((definition) => asciiJson(definition)),
      );
    },
    resolve: (view: View, request: ExposureRequest) => resolveOwn(view, serverOf(view), request),
    render: (_view: View, _intent: Intent, result: ResultBytes) => result,
    toUri: (_server: string, uri: string) => uri,
    instructions: (view: View) => serverOf(view).catalog?.instructions ?? "",
    isTransparent: true,
    transparent: serverOf,
  } satisfies Exposure);
}

function definitionsOf(server: ViewServer, kind: ListKind, era: Era | undefined): readonly unknown[] {
  const { catalog } = server;
  switch (kind) {
    case "tools":
      return server.tools.map((tool) => toolFor(era, tool.definition));
    case "resources":
      return catalog?.resources.map((entry) => entry.definition) ?? [];
    case "resourceTemplates":
      return catalog?.templates.map((entry) => entry.definition) ?? [];
    case "prompts":
      return catalog?.prompts.map((entry) => entry.definition) ?? [];
    case "skills":
      return catalog?.skills.map((entry) => entry.definition) ?? [];
  }
}

function resolveOwn(view: View, server: ViewServer, request: ExposureRequest): Intent {
  switch (request.method) {
    case "tools/call": {
      const tool = server.tools.find((candidate) => candidate.definition.name === request.name);
      if (tool !== undefined)
        return { kind: "call", instance: server.instance, tool, arguments: request.arguments, warning: undefined };
      const held = findHeldOf(server, request.name);
      if (held !== undefined) throw heldTool(server, held);
      const hidden =
        server.catalog?.tools.some(
          (candidate) => candidate.definition.name === request.name || candidate.upstreamName === request.name,
        ) === true;
      if (hidden)
        throw new GatewayError(
          "TOOL_UNKNOWN",
          `${server.slug} has no tool ${JSON.stringify(request.name.slice(0, 200))}${inProfile(view)}`,
        );
      return { kind: "forward", server };
    }
    case "prompts/get": {
      const held = heldPrompt(server, request.name);
      if (held !== undefined) throw held;
      const prompt = server.catalog?.prompts.find((candidate) => candidate.definition.name === request.name);
      return prompt === undefined
        ? { kind: "forward", server }
        : { kind: "prompt", instance: server.instance, prompt, arguments: request.arguments };
    }
    case "resources/read":
      return { kind: "read", server, uri: request.uri, as: "native" };
    case "completion/complete":
      return { kind: "complete", server, ref: request.ref };
  }
}
