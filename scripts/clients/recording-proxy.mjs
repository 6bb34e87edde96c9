// Passes everything to the gateway as it is, and notes what a client says of itself and which revision it speaks.

import { listen, readBody } from "./listen.mjs";

const notPassed = new Set(["host", "connection", "content-length", "transfer-encoding", "expect"]);
const clientInfoKey = "io.modelcontextprotocol/clientInfo";

/**
 * @typedef {object} SeenOnTheWay
 * @property {string | undefined} clientName clientInfo.name, from initialize or from the `_meta` of a request
 * @property {string | undefined} revision
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
    seen.clientName ??= message.params?.clientInfo?.name ?? message.params?._meta?.[clientInfoKey]?.name;
    if (message.method === "initialize") seen.revision ??= /"protocolVersion":"([^"]+)"/.exec(text)?.[1];
    if (message.method === "tools/list") seen.revision ??= headers["mcp-protocol-version"];
  }

  const http = await listen(async (request, response) => {
    const body = await readBody(request);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (!notPassed.has(name)) headers.set(name, String(value));
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answer = await fetch(new URL(request.url, target), {
      method: request.method,
      headers,
      ...(body.length > 0 && { body }),
      signal: gone.signal,
    });
    response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => !notPassed.has(name))));
    response.flushHeaders();
    let text = "";
    for await (const chunk of answer.body ?? []) {
      response.write(chunk);
      text += Buffer.from(chunk).toString();
    }
    response.end();
    note(body.toString(), text, request.headers);
  });

  return { ...http, seen: () => seen, forget: () => (seen = nothingSeen()) };
}

/** @returns {SeenOnTheWay} */
const nothingSeen = () => ({ clientName: undefined, revision: undefined, methods: new Set() });

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
