// Resources and prompts, for --resources and --prompts. Well-behaved: what goes wrong here goes wrong in the lists.

import { image, text } from "./content.mjs";

export const resources = [
  { uri: "bad://text", name: "text", mimeType: "text/plain", description: "A text" },
  { uri: "bad://binary", name: "binary", mimeType: "image/png", description: "A picture" },
  {
    uri: "ui://bad/panel",
    name: "panel",
    mimeType: "text/html;profile=mcp-app",
    _meta: { ui: { prefersBorder: true } },
  },
];

export const resourceTemplates = [
  { uriTemplate: "bad://item/{id}", name: "item", description: "One item by its id" },
];

export const prompts = [
  { name: "plain", description: "A prompt without arguments" },
  { name: "greet", description: "Greets somebody", arguments: [{ name: "name", required: true }] },
];

export function readResource(exchange) {
  const { uri } = exchange.params;
  const known = resources.find((resource) => resource.uri === uri);
  const isItem = typeof uri === "string" && uri.startsWith("bad://item/");
  if (known === undefined && !isItem) {
    return exchange.fail(exchange.era === "modern" ? -32602 : -32002, `Unknown resource ${uri}`, {
      uri,
    });
  }
  const mimeType = known?.mimeType ?? "text/plain";
  const body =
    uri === "bad://binary"
      ? { blob: image.data }
      : { text: `${uri} of ${exchange.server.info.name}` };
  const result = { contents: [{ uri, mimeType, ...body }] };
  exchange.answer({ ...result, ...(exchange.era === "modern" && exchange.server.lists.caching()) });
}

export function getPrompt(exchange) {
  const { name, arguments: args = {} } = exchange.params;
  if (!prompts.some((prompt) => prompt.name === name))
    return exchange.fail(-32602, `Unknown prompt ${name}`);
  const content = text(
    name === "greet" ? `Hello, ${args.name}` : `A prompt of ${exchange.server.info.name}`,
  );
  exchange.answer({ messages: [{ role: "user", content }] });
}
