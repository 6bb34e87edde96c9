import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as z from "zod";
import { createGatewayClient, type GatewayClient } from "../../cli/gateway/gateway-client.ts";
import { gatewayReading } from "../../engine/policy/rights.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { operation } from "../../operations/operation.ts";
import { answers } from "../../operations/responses.ts";
import type { Services } from "../../operations/services.ts";
import { createRestApp } from "./app.ts";
import type { RestDeps } from "./route.ts";
import { createDocumentationRoutes } from "./document/documentation.ts";
import { operationRoute } from "./operation-route.ts";

/** All that an operation costs, beside its plan or query and its command. */
const addMotto = operation({
  route: "POST /api/teams/{team}/mottos",
  params: z.object({ team: z.string() }),
  query: z.object({ loud: z.enum(["true", "false"]).optional() }),
  right: gatewayReading,
  id: "addMotto",
  tag: "Mottos",
  summary: "Give a team a motto",
  body: z.object({ text: z.string().max(20) }),
  responses: answers(z.object({ motto: z.string() }).meta({ id: "Motto" }), "The motto.", [404]),
  run: (_services, { params, query, body, via }) => ({
    motto: `${params.team}: ${query.loud === "true" ? body.text.toUpperCase() : body.text}, by ${via}`,
  }),
});

const sources = fileURLToPath(new URL("../../", import.meta.url));

async function serve(principal: Principal): Promise<{ gateway: GatewayClient; close: () => void }> {
  const deps = {
    ...{ version: "0", isOwner: () => principal.via === "owner", isOpen: () => false },
    people: () => ({ book: { teamOf: (slug: string) => ({ slug }) } }),
    authenticate: () => principal,
    ...{ admit: () => () => undefined, fleet: { adopting: () => undefined }, onDenied: () => undefined },
    presence: { losses: 0, require: () => undefined },
    bodyLimits: { requestBodyBytes: 10_000, jsonDepth: 10 },
    bodyRoom: { enter: () => undefined, leave: () => undefined, take: () => undefined },
    publicUrl: () => "http://toolyard",
    browsers: { loggedInAt: () => undefined, personOf: () => undefined },
  } as unknown as RestDeps;
  const routes = [operationRoute(deps, deps as unknown as Services, addMotto)];
  const server = createServer(createRestApp(deps, [...routes, ...createDocumentationRoutes(deps, routes)]));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send: Parameters<typeof createGatewayClient>[0]["send"] = async ({ method, path, headers, body }) => {
    const response = await fetch(`${base}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    return { status: response.status, text: await response.text() };
  };
  const open = async () => await Promise.reject(new Error("nothing is streamed"));
  return { gateway: createGatewayClient({ base, isStreaming: false, send, open }), close: () => void server.close() };
}

test("one object is a route with its right, its checks and its description, and a typed request of the terminal", async () => {
  const { gateway, close } = await serve({ ...localPrincipal, via: "owner" });
  const given = { params: { team: "red ones" }, query: { loud: "true" as const }, body: { text: "onward" } };
  const route = "POST /api/teams/{team}/mottos";
  expect(await gateway.ask<typeof addMotto>(route, given)).toEqual({ motto: "red ones: ONWARD, by owner" });
  await expect(gateway.ask<typeof addMotto>(route, { ...given, body: { text: "x".repeat(21) } })).rejects.toMatchObject(
    {
      code: "PARAMS_INVALID",
      message: expect.stringContaining("body.text") as string,
    },
  );
  // @ts-expect-error -- another route is none of this operation
  await expect(gateway.ask<typeof addMotto>("GET /api/mottos", given)).rejects.toThrow();
  const document = JSON.parse(await gateway.text<never>("GET /openapi.json" as never, {} as never)) as {
    paths: Record<string, Record<string, { operationId: string; responses: object }>>;
  };
  expect(document.paths["/api/teams/{team}/mottos"]?.["post"]).toMatchObject({
    operationId: "addMotto",
    responses: { 200: {}, 404: {} },
  });
  close();
});

test("its right is checked before its body is looked at", async () => {
  const { gateway, close } = await serve({ ...localPrincipal, via: "pat", roles: ["member"], team: "red" });
  const given = { params: { team: "red" }, body: { text: "x".repeat(21) } };
  await expect(gateway.ask<typeof addMotto>("POST /api/teams/{team}/mottos", given)).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
  close();
});

/** Every source file, with its text. */
function readSources(): ReadonlyMap<string, string> {
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  return new Map(files.map((file) => [file, readFileSync(join(sources, file), "utf8")]));
}

test("an operation is named in its own file and in commands that ask for it, and in no other", () => {
  const texts = readSources();
  const owned = [...texts].filter(([file]) => /^operations\/.*-operations\.ts$/.test(file));
  const names = owned.flatMap(([file, text]) =>
    [...text.matchAll(/^export const (\w+) = operation\(/gm)].map(([, name = ""]) => ({ file, name })),
  );
  expect(names.length).toBeGreaterThan(40);
  const strayed = names.flatMap(({ file, name }) =>
    [...texts]
      .filter(
        ([other, text]) =>
          other !== file && new RegExp(`\\b${name}\\b[^;]*from "[^"]*${file.split("/").at(-1) ?? ""}"`).test(text),
      )
      .filter(([other]) => !other.startsWith("cli/"))
      .map(([other]) => `${name} in ${other}`),
  );
  expect(strayed).toEqual([]);
  // And the list of a file in one place.
  for (const [file, text] of owned)
    for (const [, list = ""] of text.matchAll(/^export const (\w+Operations): readonly Operation\[\]/gm)) {
      const users = [...texts].filter(([other, other_]) => other !== file && new RegExp(`\\b${list}\\b`).test(other_));
      expect([list, users.map(([other]) => other)]).toEqual([list, ["front/rest/rest.ts"]]);
    }
});
