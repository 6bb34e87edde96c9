import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { send, type RawAnswer } from "../harness/rpc.ts";

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}
interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly [keyword: string]: unknown;
}
interface Operation {
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
    >
  >;
}

describe("the OpenAPI document", () => {
  let gateway: RunningGateway;
  let operations: readonly { readonly path: string; readonly method: string; readonly operation: Operation }[];
  // oxlint-disable-next-line typescript/no-explicit-any -- a document of any shape, checked below
  let document: any;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);

  beforeAll(async () => {
    gateway = await startGateway({
      config: {
        mcpServers: {
          one: badServer("--behaviours=canary,echo", "--resources"),
          two: badServer("--behaviours=canary"),
        },
        toolyard: { debugRoute: true },
      },
    });
    await untilOnline(gateway.url);
    document = (await get(`${gateway.url}/openapi.json`)).json;
    operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test("is OpenAPI 3.1: every operation has a summary, its path's parameters, answers with descriptions, and schemas that compile", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toMatchObject({ title: "Toolyard", version: expect.any(String) });
    expect(document.components.securitySchemes.token).toMatchObject({ type: "http", scheme: "bearer" });
    for (const { path, method, operation } of operations) {
      expect(["get", "post", "delete", "head"]).toContain(method);
      expect([path, operation.summary.length > 0]).toEqual([path, true]);
      const placeholders = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");
      const given = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect([path, given.map((parameter) => parameter.name).sort()]).toEqual([path, placeholders.sort()]);
      for (const parameter of given) expect(parameter.required).toBe(true);
      for (const parameter of operation.parameters ?? []) expect(() => ajv.compile(parameter.schema)).not.toThrow();
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["200", "400", "401", "500"]));
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5]\d\d$/);
        expect(response.description.length).toBeGreaterThan(0);
        for (const { schema } of Object.values(response.content ?? {})) expect(() => ajv.compile(schema)).not.toThrow();
      }
      if (operation.requestBody !== undefined)
        expect(() => ajv.compile(operation.requestBody?.content["application/json"]?.schema as object)).not.toThrow();
    }
  });

  test("names every route of the API", () => {
    const routes = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(routes).toEqual(
      expect.arrayContaining([
        "GET /namespaces",
        "GET /list/apps",
        "GET /list/apps/{app}/tools",
        "POST /execute/{name}",
        "GET /api/tools",
        "GET /api/tools/{path}",
        "GET /api/resources",
        "GET /api/resources/read",
        "GET /api/servers",
        "GET /api/instances",
        "POST /api/instances/{id}/restart",
        "POST /api/instances/{id}/stop",
        "POST /api/instances/{id}/refresh",
        "POST /api/instances/{id}/token",
        "POST /api/servers/{slug}/refresh",
        "GET /api/namespaces/stats",
      ]),
    );
  });

  test("answers fit their schemas", async () => {
    for (const path of [
      "/namespaces",
      "/list/apps",
      "/list/apps?status=true",
      "/list/apps/one/tools",
      "/api/tools",
      "/api/tools?query=echo",
      "/api/tools/one:echo",
      "/api/resources",
      "/api/servers",
      "/api/instances",
      "/api/instances/one",
      "/api/namespaces/stats",
      "/api/status/debug",
      "/.well-known/oauth-protected-resource",
    ]) {
      fits(path, "get", await get(gateway.url + path));
    }
    fits("/execute/one:canary", "post", await run(gateway.url, "one:canary"));
    fits("/execute/echo", "post", await run(gateway.url, "echo"));
    fits("/execute/nothing", "post", await run(gateway.url, "nothing"));
    fits("/api/instances/one/refresh", "post", await post(`${gateway.url}/api/instances/one/refresh`));
    fits("/api/instances/one/token", "post", await post(`${gateway.url}/api/instances/one/token`));
  });

  test("requests made from the schemas, right and wrong, never get a 5xx, and what comes back is described", async () => {
    const requests = fc.constantFrom(...operations).chain(({ path, method, operation }) =>
      fc
        .record({
          values: fc.tuple(...(operation.parameters ?? []).map((parameter) => valueFor(parameter))),
          body: fc.oneof(
            fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
            fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value)),
            fc.string(),
          ),
        })
        .map(({ values, body }) => ({ path, method, operation, values, body })),
    );
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, method, operation, values, body }) => {
        const target = toTarget(path, operation, values);
        // What ends a server, or makes more tokens than anybody needs, has tests of its own.
        if (/\/(stop|restart)$/.test(target.path)) return;
        const answer = await send(gateway.url + target.path, {
          method: method.toUpperCase(),
          headers: { ...(method === "get" ? {} : { "content-type": "application/json" }), ...target.headers },
          ...(method === "post" ? { body } : {}),
        });
        expect([target.path, answer.status < 500 ? "fine" : answer.text]).toEqual([target.path, "fine"]);
        if (answer.status >= 400 && method !== "head")
          expect(answer.json).toMatchObject({
            status: answer.status,
            code: expect.any(String),
            hint: expect.any(String),
          });
      }),
      { numRuns: 600 },
    );
    expect((await get(`${gateway.url}/healthz`)).status).toBe(200);
  }, 120_000);

  test("/documentation shows it with files of our own only, and no inline script or style", async () => {
    const page = await get(`${gateway.url}/documentation`);
    expect(page.headers["content-security-policy"]).not.toContain("unsafe");
    expect(page.headers["x-frame-options"]).toBe("DENY");
    expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|style=|onload=|https?:\/\//i);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(files.length).toBeGreaterThan(3);
    for (const file of files)
      expect([file, (await get(new URL(file, `${gateway.url}/documentation/`).href)).status]).toEqual([file, 200]);
    expect((await get(`${gateway.url}/documentation/json`)).json.paths).toEqual(document.paths);
  });

  function fits(path: string, method: string, answer: RawAnswer): void {
    const bare = path.split("?", 1)[0] ?? "";
    const found = operations.find(
      (one) =>
        one.method === method &&
        new RegExp(`^${one.path.replace(/[.]/g, "\\.").replace(/\{[^}]+\}/g, "[^/]+")}$`).test(bare),
    );
    const type = String(answer.headers["content-type"]).split(";", 1)[0] ?? "";
    const schema = found?.operation.responses[String(answer.status)]?.content?.[type]?.schema;
    expect([path, answer.status, schema === undefined ? `no schema for ${type}` : "described"]).toEqual([
      path,
      answer.status,
      "described",
    ]);
    const validate = ajv.compile(schema as object);
    expect([path, validate(answer.json) ? [] : validate.errors]).toEqual([path, []]);
  }
});

/** Mostly what the schema says, sometimes anything. */
function valueFor({ schema, required }: Parameter): fc.Arbitrary<string | undefined> {
  const known = fc.constantFrom(
    "one",
    "two",
    "one:echo",
    "one-echo",
    "one__canary",
    "one.echo",
    "echo",
    "canary",
    "one|bad://text",
    "__proto__",
    "constructor",
    "../etc",
    "%00",
  );
  const fitting =
    schema.enum === undefined
      ? schema.type === "integer"
        ? fc.integer().map(String)
        : fc.oneof(known, fc.string({ minLength: 1 }))
      : fc.constantFrom(...schema.enum);
  const anything = fc.oneof(
    { weight: 3, arbitrary: fitting },
    { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 200 }) },
  );
  return required === true ? anything : fc.option(anything, { nil: undefined });
}

function toTarget(
  path: string,
  operation: Operation,
  values: readonly (string | undefined)[],
): { path: string; headers: Record<string, string> } {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let filled = path;
  for (const [index, parameter] of (operation.parameters ?? []).entries()) {
    const value = values[index];
    if (value === undefined) continue;
    if (parameter.in === "path")
      filled = filled.replace(`{${parameter.name}}`, () =>
        encodeURIComponent(wellFormed(value)).replaceAll(".", "%2E"),
      );
    else if (parameter.in === "query") query.set(parameter.name, wellFormed(value));
    else headers[parameter.name] = value.replace(/[^\x20-\x7e]/g, "?");
  }
  const text = query.toString();
  return { path: text === "" ? filled : `${filled}?${text}`, headers };
}

/** Half a surrogate pair cannot be percent-encoded. */
function wellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
