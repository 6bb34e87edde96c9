// Passes everything to the gateway as it is, and notes what a client says of itself and which revision it speaks.

import { request as ask } from "node:http";
import { listen, readBody } from "./listen.mjs";

const clientInfoKey = "io.modelcontextprotocol/clientInfo";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/**
 * @typedef {object} SeenOnTheWay
 * @property {string | undefined} clientName clientInfo.name, from initialize or from the `_meta` of a request
 * @property {string | undefined} revision
 * @property {boolean} canBeAsked whether it declared elicitation
 * @property {Set<string>} methods of requests that were answered
 */

/** @param {string} target the gateway's origin */
export async function startRecordingProxy(target) {
  /** @type {SeenOnTheWay} */
  let seen = nothingSeen();

  function note(body, text, headers) {
    const message = parse(body);
    if (typeof message?.method !== "string") return;
    seen.methods.add(message.method);
    const { clientInfo, capabilities, _meta: meta } = message.params ?? {};
    seen.clientName ??= clientInfo?.name ?? meta?.[clientInfoKey]?.name;
    seen.canBeAsked ||= (capabilities ?? meta?.[capabilitiesKey])?.elicitation !== undefined;
    if (message.method === "initialize") seen.revision ??= /"protocolVersion":"([^"]+)"/.exec(text)?.[1];
    if (message.method === "tools/list") seen.revision ??= headers["mcp-protocol-version"];
  }

  // Bytes in, bytes out, and no time limit of its own: how long a client waits is what is tried.
  const http = await listen(async (request, response) => {
    const body = await readBody(request);
    const { method, headers } = request;
    const passed = ask(new URL(request.url, target), {
      ...{ method, agent: false },
      headers: { ...headers, host: new URL(target).host },
    });
    response.once("close", () => passed.destroy());
    passed.on("error", () => response.destroy());
    passed.end(body);
    const answer = await new Promise((resolve) => passed.once("response", resolve));
    response.writeHead(answer.statusCode, answer.rawHeaders);
    response.flushHeaders();
    let text = "";
    for await (const chunk of answer) {
      response.write(chunk);
      text += chunk.toString();
    }
    response.end();
    note(body.toString(), text, headers);
  });

  return { ...http, seen: () => seen, forget: () => (seen = nothingSeen()) };
}

/** @returns {SeenOnTheWay} */
const nothingSeen = () => ({ clientName: undefined, revision: undefined, canBeAsked: false, methods: new Set() });

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
