// Resources and prompts, for --resources and --prompts. Well-behaved: what goes wrong here goes wrong in the lists.

import { askForName } from "./tools-asking.mjs";
import { image, text } from "./content.mjs";
import { skillFile } from "./skills.mjs";

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

export const resourceTemplates = [{ uriTemplate: "bad://item/{id}", name: "item", description: "One item by its id" }];

export const prompts = [
  { name: "plain", description: "A prompt without arguments" },
  { name: "greet", description: "Greets somebody", arguments: [{ name: "name", required: true }] },
];

/** For --asking: both say what the user answered. */
export const askingResource = { uri: "bad://asking", name: "asking", mimeType: "text/plain" };
export const askingPrompt = { name: "asking", description: "Asks for a name first" };

async function readAsking(exchange) {
  const answer = await askForName(exchange);
  if (answer !== undefined) exchange.answer({ contents: [{ ...askingResource, text: JSON.stringify(answer) }] });
}

async function getAsking(exchange) {
  const answer = await askForName(exchange);
  if (answer !== undefined) exchange.answer({ messages: [{ role: "user", content: text(JSON.stringify(answer)) }] });
}

export function readResource(exchange) {
  const { uri } = exchange.params;
  if (exchange.server.options.asking && uri === askingResource.uri) return readAsking(exchange);
  const skill = exchange.server.options.skills ? skillFile(uri) : undefined;
  if (skill !== undefined)
    return exchange.answer({
      contents: [{ uri, mimeType: "text/markdown", text: skill }],
      ...(exchange.era === "modern" && exchange.server.lists.caching()),
    });
  const known = resources.find((resource) => resource.uri === uri);
  const isItem = typeof uri === "string" && uri.startsWith("bad://item/");
  if (known === undefined && !isItem) {
    return exchange.fail(exchange.era === "modern" ? -32602 : -32002, `Unknown resource ${uri}`, {
      uri,
    });
  }
  const mimeType = known?.mimeType ?? "text/plain";
  const body = uri === "bad://binary" ? { blob: image.data } : { text: `${uri} of ${exchange.server.info.name}` };
  const result = { contents: [{ uri, mimeType, ...body }] };
  exchange.answer({ ...result, ...(exchange.era === "modern" && exchange.server.lists.caching()) });
}

export function getPrompt(exchange) {
  const { name, arguments: args = {} } = exchange.params;
  if (exchange.server.options.asking && name === askingPrompt.name) return getAsking(exchange);
  if (!prompts.some((prompt) => prompt.name === name)) return exchange.fail(-32602, `Unknown prompt ${name}`);
  const content = text(name === "greet" ? `Hello, ${args.name}` : `A prompt of ${exchange.server.info.name}`);
  exchange.answer({ messages: [{ role: "user", content }] });
}
