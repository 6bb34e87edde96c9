// A gateway inside a Hono application, on its own port beside its own routes. Needs the packages `hono` and
// `@hono/node-server`; run it with `node hono.mjs`.
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { createGateway } from "toolyard";

const gateway = await createGateway({ configFile: fileURLToPath(new URL("mcp.json", import.meta.url)) });
const app = new Hono();
app.get("/hello", (context) => context.text("hello from Hono"));

// A route of your own that uses the gateway in process.
app.get("/find", async (context) => {
  const found = await gateway.search(context.req.query("need") ?? "", { limit: 3 });
  return context.json(found.map(({ path, description }) => ({ path, description })));
});

// Whatever no route takes is the gateway's: /mcp for clients, /documentation for REST. It reads the request and writes
// the answer by itself, because answers may be streams; Hono is told that nothing is left to do.
app.notFound(({ env }) => {
  gateway.handler(env.incoming, env.outgoing);
  return RESPONSE_ALREADY_SENT;
});

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3001) }, ({ port }) =>
  console.log(`listening on http://127.0.0.1:${port}`),
);
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, async () => {
    await gateway.stop();
    server.close();
  });
