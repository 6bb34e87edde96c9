// A small HTTP server on a free port of this machine.

import { createServer } from "node:http";

/**
 * @param {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) =>
 *   Promise<void>} serve
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function listen(serve) {
  const http = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", () => resolve(undefined)));
  return {
    url: `http://127.0.0.1:${http.address().port}`,
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}

export async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
