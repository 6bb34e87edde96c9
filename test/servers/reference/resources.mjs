// Static resources, a template, and subscriptions that are accepted and never fire.

import { ResourceTemplate } from "@modelcontextprotocol/server";
import { pngBase64 } from "./samples.mjs";

/** @param {import("@modelcontextprotocol/server").McpServer} server */
export function addResources(server) {
  const add = (name, mimeType, content) => {
    const uri = `test://${name}`;
    const details = { title: name, description: `The resource ${name}`, mimeType };
    server.registerResource(name, uri, details, async () => ({
      contents: [{ uri, mimeType, ...content }],
    }));
  };
  add("static-text", "text/plain", { text: "This is the content of the static text resource." });
  add("static-binary", "image/png", { blob: pngBase64 });
  add("watched-resource", "text/plain", { text: "This resource can be subscribed to." });
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { title: "template", description: "One document per id", mimeType: "application/json" },
    async (uri, { id }) => {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` });
      return { contents: [{ uri: uri.toString(), mimeType: "application/json", text }] };
    },
  );
  server.server.setRequestHandler("resources/subscribe", async () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", async () => ({}));
}
