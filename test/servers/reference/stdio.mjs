// The same server on stdin and stdout. One connection, so announcing a change is sending a notification on it.

import { createRequestStateCodec } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildReferenceServer } from "./build.mjs";

export function serveReferenceStdio() {
  const stateCodec = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });
  serveStdio(() => {
    const server = buildReferenceServer({
      stateCodec,
      announceTools: () => server.sendToolListChanged(),
      announcePrompts: () => server.sendPromptListChanged(),
      closeStream: () => {},
    });
    return server;
  });
}
