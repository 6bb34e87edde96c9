// How servers of SDKs for other languages answer where they differ from those for JavaScript: what they do with a first
// request that is not `initialize`, with capabilities and methods that they do not know, and with a session that a
// restart has ended. Written from the published source of the version that each row names; no code is theirs.

import { offered } from "./offered.mjs";

/**
 * @typedef {object} Peer one process or one HTTP session
 * @property {boolean} isInitialized whether `initialize` was answered
 * @property {boolean} isReady whether `notifications/initialized` came
 *
 * What becomes of a request: an answer, nothing yet, or the end of the process.
 * @typedef {{ result: object } | { error: { code: number, message: string, data?: unknown } }
 *   | { waits: true } | { exits: number, says?: string }} Reply
 *
 * A refusal below JSON-RPC.
 * @typedef {{ status: number, type: "text/plain" | "application/json", body: string }} Refusal
 *
 * @typedef {object} Sdk
 * @property {string} follows the SDK and version
 * @property {(message: { method: string, params?: any }, peer: Peer) => Reply} reply
 * @property {(request: { message?: any, method: string, headers: import("node:http").IncomingHttpHeaders,
 *   isKnownSession: boolean }) => Refusal | undefined} [refuse] what its HTTP transport refuses before it looks further
 * @property {boolean} [answersWithJson] whether a request over HTTP is answered as JSON, not as a stream of events
 */

const text = (status, body) => ({ status, type: "text/plain", body: `${body}\n` });
const json = (status, code, message) => ({
  status,
  type: "application/json",
  body: JSON.stringify({ jsonrpc: "2.0", id: "", error: { code, message } }),
});

const revisions = ["2024-11-05", "2025-03-26", "2025-06-18"];
const isUnknownRevision = (headers) => !revisions.includes(headers["mcp-protocol-version"] ?? "2025-03-26");
const acceptsBoth = ({ accept = "" }) => accept.includes("application/json") && accept.includes("text/event-stream");

/** What a server answers that knows nothing but its tool; undefined for a method that it does not know. */
function plain({ method, params }, version) {
  const known = {
    ping: () => ({}),
    initialize: () => ({
      protocolVersion: revisions.includes(params.protocolVersion) ? params.protocolVersion : revisions.at(-1),
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "stand-in", version },
    }),
    "tools/list": () => ({ tools: offered.tools }),
    "tools/call": () => offered.call(params),
  };
  return Object.hasOwn(known, method) ? { result: known[method]() } : undefined;
}

const unknownMethod = (message) => ({ error: { code: -32601, message } });

/** Java's transport writes the exception itself as JSON, which is no message of JSON-RPC. */
const exception = (status, message) => ({
  status,
  type: "application/json",
  body: JSON.stringify({
    cause: null,
    stackTrace: [],
    jsonRpcError: null,
    message,
    suppressed: [],
    localizedMessage: message,
  }),
});

/**
 * Jackson refuses members that a record does not declare, unless it is marked to ignore them. The capabilities are,
 * but the empty records in them are not.
 */
function java(version, emptyRecords) {
  const refused = ({ capabilities = {} }) => {
    for (const name of emptyRecords)
      for (const member of Object.keys(capabilities[name] ?? {}))
        return `Unrecognized field "${member}" (class McpSchema$ClientCapabilities$${name}), not marked as ignorable`;
    return undefined;
  };
  return {
    follows: `Java SDK ${version}`,
    reply(message, peer) {
      if (message.method === "initialize") {
        const why = refused(message.params);
        return why === undefined ? plain(message, version) : { error: { code: -32603, message: why } };
      }
      const answer = plain(message, version);
      if (answer === undefined) return unknownMethod(`Method not found: ${message.method}`);
      return peer.isReady ? answer : { waits: true };
    },
    refuse({ message, method, headers, isKnownSession }) {
      if (!acceptsBoth(headers) && method === "POST")
        return exception(400, "text/event-stream required in Accept header");
      if (message?.method === "initialize") {
        const why = refused(message.params);
        return why === undefined ? undefined : exception(400, `Invalid message format: ${why}`);
      }
      const session = headers["mcp-session-id"];
      if (session === undefined) return exception(400, "Session ID required in mcp-session-id header");
      return isKnownSession ? undefined : exception(404, `Session not found: ${session}`);
    },
  };
}

function python(version, lost) {
  return {
    follows: `Python SDK ${version}`,
    reply(message, peer) {
      const invalid = { error: { code: -32602, message: "Invalid request parameters", data: "" } };
      if (message.method !== "initialize" && message.method !== "ping" && !peer.isReady) return invalid;
      return plain(message, version) ?? invalid;
    },
    refuse({ message, headers, isKnownSession }) {
      if (headers["mcp-session-id"] !== undefined && !isKnownSession) return lost;
      if (message !== undefined && !acceptsBoth(headers))
        return json(406, -32600, "Not Acceptable: Client must accept both application/json and text/event-stream");
      if (message?.method === "initialize") return undefined;
      if (!isKnownSession) return json(400, -32600, "Bad Request: Missing session ID");
      return isUnknownRevision(headers) ? json(400, -32600, "Bad Request: Unsupported protocol version") : undefined;
    },
  };
}

/** @type {Record<string, Sdk>} */
export const sdks = {
  "rmcp-0.8": {
    follows: "rmcp 0.8.5 (Rust)",
    reply(message, peer) {
      if (!peer.isInitialized && message.method !== "initialize")
        return { exits: 1, says: `Error: ExpectedInitializeRequest(Some(Request(${message.method})))` };
      // A request that it cannot decode is the end of its input.
      return plain(message, "0.8.5") ?? { exits: 0 };
    },
  },
  // That version has no Streamable HTTP yet.
  "java-0.8": { ...java("0.8.1", ["sampling"]), refuse: undefined },
  "java-0.12": java("0.12.1", ["sampling", "elicitation"]),
  "java-0.17": java("0.17.0", ["sampling", "elicitation"]),
  "go-1.0": {
    follows: "Go SDK 1.0.0",
    reply(message, peer) {
      if (!peer.isInitialized && message.method !== "initialize" && message.method !== "ping")
        return { error: { code: 0, message: `method "${message.method}" is invalid during session initialization` } };
      return plain(message, "1.0.0") ?? unknownMethod(`method not found: "${message.method}" unsupported`);
    },
    refuse({ message, method, headers, isKnownSession }) {
      if (method === "POST" && !acceptsBoth(headers))
        return text(400, "Accept must contain both 'application/json' and 'text/event-stream'");
      const session = headers["mcp-session-id"];
      if (session !== undefined && !isKnownSession) return text(404, "session not found");
      if (method === "GET" && session === undefined) return text(405, "GET requires an active session");
      if (isUnknownRevision(headers))
        return text(400, `Bad Request: Unsupported protocol version (supported versions: ${revisions.join(",")})`);
      if (message?.id !== undefined && plain({ params: {}, ...message }, "") === undefined)
        return text(400, `JSON RPC not handled: "${message.method}" unsupported`);
      return undefined;
    },
  },
  "mcp-go-0.32": {
    // With the one that it has by default, any well-formed id is a session.
    follows: "mcp-go 0.32.0, with a session manager that knows its sessions",
    reply: (message) => plain(message, "0.32.0") ?? unknownMethod(`Method ${message.method} not found`),
    answersWithJson: true,
    refuse: ({ message, isKnownSession }) =>
      message?.method === "initialize" || isKnownSession ? undefined : text(400, "Invalid session ID"),
  },
  "python-1.12": python("1.12.0", text(400, "Bad Request: No valid session ID provided")),
  "python-2.0": python("2.0.0rc1", json(404, -32600, "Session not found")),
  "php-mcp-3.3": {
    follows: "php-mcp/server 3.3.0",
    reply(message, peer) {
      if (message.method !== "initialize" && message.method !== "ping" && !peer.isReady)
        return { error: { code: -32600, message: "Client session not initialized." } };
      return plain(message, "3.3.0") ?? unknownMethod(`Method not found: ${message.method}`);
    },
    answersWithJson: true,
    refuse({ message, headers, isKnownSession }) {
      if (message?.method === "initialize") return undefined;
      if (headers["mcp-session-id"] === undefined) return json(400, -32600, "Mcp-Session-Id header required");
      return isKnownSession ? undefined : json(404, -32600, "Invalid or expired session ID");
    },
  },
};
