import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
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
  readonly operationId: string;
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

  const compiled = new Map<string, ValidateFunction>();
  /**
   * A schema of the document, with the named ones that it may refer to: many routes have the same ones, and each takes
   * a while.
   */
  function compile(schema: object | undefined): ValidateFunction {
    if (ajv.getSchema("document") === undefined) ajv.addSchema({ components: document.components }, "document");
    const text = JSON.stringify(schema ?? {}).replaceAll('"$ref":"#/', '"$ref":"document#/');
    const known = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
    compiled.set(text, known);
    return known;
  }

  test("is OpenAPI 3.1: every operation has a summary, its path's parameters, answers with descriptions, and schemas that compile", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toMatchObject({ title: "Toolyard", version: expect.any(String) });
    expect(document.components.securitySchemes.token).toMatchObject({ type: "http", scheme: "bearer" });
    for (const { path, method, operation } of operations) {
      expect(["get", "post", "put", "patch", "delete", "head"]).toContain(method);
      expect([path, operation.summary.length > 0]).toEqual([path, true]);
      const placeholders = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");
      const given = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect([path, given.map((parameter) => parameter.name).sort()]).toEqual([path, placeholders.sort()]);
      for (const parameter of given) expect(parameter.required).toBe(true);
      for (const parameter of operation.parameters ?? []) expect(() => compile(parameter.schema)).not.toThrow();
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["400", "401", "500"]));
      // What makes something says where it is.
      expect(Object.keys(operation.responses).filter((status) => /^20[01]$/.test(status))).toHaveLength(1);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5]\d\d$/);
        expect(response.description.length).toBeGreaterThan(0);
        for (const { schema } of Object.values(response.content ?? {})) expect(() => compile(schema)).not.toThrow();
      }
      if (operation.requestBody !== undefined)
        expect(() => compile(operation.requestBody?.content["application/json"]?.schema)).not.toThrow();
    }
  });

  test("gives every operation an id of its own that a generated client can use as a name", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(operations.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  });

  test("says each schema once, under a name, and refers to it everywhere else", () => {
    const named = Object.keys(document.components.schemas);
    expect(named).toEqual(expect.arrayContaining(["Problem", "Tool", "Server", "Instance"]));
    const text = JSON.stringify(document);
    expect(text.split("RFC 9457 problem details.").length - 1).toBe(1);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]);
    expect(references.length).toBeGreaterThan(100);
    expect(new Set(references)).toEqual(new Set(named.map((name) => `#/components/schemas/${name}`)));
    const failures = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ content }) => content?.["application/problem+json"]?.schema ?? []),
    );
    expect(failures.length).toBeGreaterThan(100);
    for (const schema of failures) expect(schema).toEqual({ $ref: "#/components/schemas/Problem" });
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
        // What ends a server, makes more tokens than anybody needs, or does not end, has tests of its own.
        if (/\/(stop|restart)$|^\/api\/events/.test(target.path)) return;
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
  });

  test("/documentation shows it with files of our own only, and no inline script or style", async () => {
    const page = await get(`${gateway.url}/documentation`);
    expect(page.headers["content-security-policy"]).not.toContain("unsafe");
    expect(page.headers["x-frame-options"]).toBe("DENY");
    expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|style=|onload=|https?:\/\//i);
    // What leads to a place on the page itself is looked for below.
    const linked = [...page.text.matchAll(/(?:src|href)="([^"#]+)/g)].map((match) => match[1] ?? "");
    const files = new Set(linked);
    expect(files.size).toBeGreaterThan(1);
    for (const file of files)
      expect([file, (await get(new URL(file, `${gateway.url}/documentation/`).href)).status]).toEqual([file, 200]);
    expect((await get(`${gateway.url}/documentation/json`)).json.paths).toEqual(document.paths);
  });

  test("/documentation lists every operation, parameter and schema; there is no script", async () => {
    const page = await get(`${gateway.url}/documentation`);
    expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'self';/);
    expect(page.text).not.toContain("<script");
    for (const { path, method, operation } of operations) {
      const section = page.text.split(`<section id="${operation.operationId}">`)[1]?.split("</section>", 1)[0] ?? "";
      expect(section).toContain(`<code><strong>${method.toUpperCase()}</strong> ${path}</code>`);
      for (const { name } of operation.parameters ?? []) expect(section).toContain(`<code>${name}</code>`);
      for (const status of Object.keys(operation.responses)) expect(section).toContain(`<td>${status}</td>`);
      expect(section).toContain(method === "get" ? "<pre>curl " : `<pre>curl -X ${method.toUpperCase()} `);
    }
    const targets = [...page.text.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    expect(targets.filter((target) => !page.text.includes(`id="${target}"`))).toEqual([]);
    for (const name of Object.keys(document.components.schemas)) expect(targets).toContain(`schema-${name}`);

    const shown = page.text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    expect(shown).toContain(`<pre>curl -X POST "$TOOLYARD/execute/NAME" \\
  -H 'Content-Type: application/json' \\
  -d '{}'</pre>`);
  });

  test("/documentation is kept by whoever has it, and told to send a token only where one is needed", async () => {
    const { headers, text } = await get(`${gateway.url}/documentation/`);
    expect((await get(`${gateway.url}/documentation`, { "if-none-match": String(headers.etag) })).status).toBe(304);
    expect(text).not.toContain("$TOKEN");
    await using closed = await startGateway({
      config: { mcpServers: {}, toolyard: { auth: { tokenHashes: [`sha256:${"0".repeat(64)}`] } } },
    });
    expect((await get(`${closed.url}/documentation`)).text).toContain("Authorization: Bearer $TOKEN");
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
    const validate = compile(schema);
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
