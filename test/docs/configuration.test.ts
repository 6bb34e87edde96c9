import { Ajv } from "ajv";
import { parse } from "jsonc-parser";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { cliPage } from "../../scripts/docs/cli-page.mjs";
import { configurationPage } from "../../scripts/docs/configuration-page.mjs";
import * as commands from "../../src/cli/commands.ts";
import { configurationSchema } from "../../src/config/settings/config-schema.ts";
import { buildConfig } from "../../src/config/load.ts";
import * as fields from "../../src/config/entry/server-fields.ts";
import type { Rows } from "../../src/config/rows/setting-row.ts";
import * as settings from "../../src/config/settings/settings-table.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const schema: unknown = JSON.parse(read("docs/toolyard.schema.json"));
const page = read("docs/configuration.md");
const cli = read("docs/cli.md");

test("docs/configuration.md, docs/cli.md and the schema are what scripts/write-docs.mjs makes of the tables", () => {
  expect(page).toBe(configurationPage(settings, fields));
  expect(cli).toBe(cliPage(commands, settings));
  expect(schema).toEqual(JSON.parse(JSON.stringify(configurationSchema())));
});

const allRows = { ...flatten(settings.toolyardRows, "toolyard"), ...flatten(fields.entryRows, "server") };

describe("a row of the tables", () => {
  test.each(Object.entries(allRows))(
    "%s is told with its default, its reason and an example that is valid",
    (path, row) => {
      expect(page).toContain(`| \`${path.split(".").at(-1)}\` | ${row.type} |`);
      expect(row.about).toMatch(/^(HTTP|[a-z`]).*[^.]$/);
      if (typeof row.fallback === "number") expect(row.reason).toMatch(/./);
      expect(v.safeParse(row.schema, row.example).success).toBe(true);
      if (row.fallback !== undefined) expect(v.safeParse(row.schema, row.fallback).success).toBe(true);
    },
  );

  test("is read by something: a setting without effect would be a promise that nobody keeps", () => {
    const source = sources("src")
      .filter(
        (file) => !/\.test\.ts$|config\/(settings-table|server-fields|instance-rows|limit-rows|config)\.ts$/.test(file),
      )
      .map((file) => read(file).replaceAll(/^\s*(\/\*\*|\*|\/\/).*$/gm, ""))
      .join("\n");
    const isRead = (name: string): boolean => new RegExp(`[.{,("\\s]${name}\\b(?!\\()`).test(source);
    expect(Object.keys(allRows).filter((path) => !isRead(path.split(".").at(-1) ?? ""))).toEqual([]);
  });
});

describe("docs/toolyard.schema.json", () => {
  const isValid = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).compile(schema as object);
  const problemsOf = (value: unknown): unknown[] => (isValid(value) ? [] : (isValid.errors ?? []));

  test.each(configurations())("takes the configuration in %s", (_place, value) => {
    expect(problemsOf(value)).toEqual([]);
  });

  test("takes every setting's example, and a variable wherever a text stands", () => {
    for (const [path, row] of Object.entries(allRows)) expect(problemsOf(put(path, row.example)), path).toEqual([]);
    expect(problemsOf({ toolyard: { exposure: "${EXPOSURE}", auth: { tokenHash: "${HASH}" } } })).toEqual([]);
    expect(problemsOf({ mcpServers: { a: { command: "x", env: { PORT: 3000, DEBUG: true } } } })).toEqual([]);
    expect(problemsOf({ mcpServers: { a: { url: "http://a.test", tools: ["*"] } } })).toEqual([]);
    expect(problemsOf({ mcpServers: { a: { command: ["npx", "-y", "x"] } } })).toEqual([]);
  });

  test.each([
    { toolyard: { port: 70_000 } },
    { toolyard: { prot: 3001 } },
    { toolyard: { exposure: "all" } },
    { toolyard: { auth: { tokenHash: "secret" } } },
    { toolyard: { search: { embeddings: { url: "http://localhost" } } } },
    { toolyard: { search: { enrich: { model: "small" } } } },
    { mcpServers: { a: { command: "x", tools: { phrases: { b: "it crashed" } } } } },
    { mcpServers: { a: { command: "x", tools: { phrases: { b: ["a", "b", "c", "d", "e", "f", "g"] } } } } },
    { toolyard: { instances: { restartDelaysMs: [-1] } } },
    { mcpServers: { a: { command: [["x"]] } } },
    { mcpServers: { a: { command: "x", comand: "y" } } },
    { mcpServers: { a: { command: "x", required: { user: ["TOKEN"] } } } },
    { mcpServers: { a: { url: "http://a.test", tls: { certFile: "a.pem" } } } },
    { mcpServers: { a: { url: "http://a.test", proxy: "socks5://a" } } },
  ])("refuses %j, as the gateway refuses it or warns of it", (value) => {
    expect(problemsOf(value)).not.toEqual([]);
    const entry = { mcpServers: {}, ...value };
    const { warnings } = attempt(() => load(entry)) ?? { warnings: ["refused"] };
    expect(warnings).not.toEqual([]);
  });

  test("may be named in the file by `$schema`, and comes with the package", () => {
    const value = { $schema: "./node_modules/toolyard/docs/toolyard.schema.json", mcpServers: {} };
    expect(problemsOf(value)).toEqual([]);
    expect(load(value).warnings).toEqual([]);
    const { files } = JSON.parse(read("package.json")) as { files: string[] };
    expect(files).toContain("docs");
  });
});

describe("docs/cli.md", () => {
  test("has every variable that the code reads", () => {
    const named = sources("src")
      .filter((file) => !file.endsWith(".test.ts"))
      .flatMap((file) => read(file).match(/TOOLYARD_[A-Z_]*[A-Z]/g) ?? []);
    const own = ["TOOLYARD_INSTANCE", "TOOLYARD_BUILD_ID", "TOOLYARD_OTHER_BUILD", "TOOLYARD_NAME"];
    expect(
      [...new Set(named)].filter(
        (name) => !own.includes(name) && !name.startsWith("TOOLYARD_INPUT") && !cli.includes(`\`${name}\``),
      ),
    ).toEqual([]);
  });
});

function flatten(rows: Rows, above: string): Record<string, Extract<Rows[string], { kind: "row" }>> {
  const pairs = Object.entries(rows).map(([name, member]) => {
    const path = `${above}.${name}`;
    if (member.kind === "row") return { [path]: member };
    return flatten(member.rows, member.kind === "keyed" ? `${path}.${member.key}` : path);
  });
  return Object.assign({}, ...pairs) as ReturnType<typeof flatten>;
}

/** A configuration with nothing but this, and what the object that it stands in cannot do without. */
function put(path: string, value: unknown): unknown {
  const steps = path.split(".");
  let inner = value;
  for (let at = steps.length - 1; at >= 0; at -= 1)
    inner = { ...neededIn[steps.slice(0, at).join(".")], [steps[at] ?? ""]: inner };
  const { server } = inner as { server?: unknown };
  return server === undefined ? inner : { mcpServers: { a: server } };
}

const [url, model, issuer, clientId] = ["http://a.test", "m", "https://a.test", "c"];
/** What has to stand beside a row of these parts. */
const neededIn: Readonly<Record<string, object>> = {
  "toolyard.search.embeddings": { url, model },
  "toolyard.search.enrich": { url, model },
  "toolyard.auth.providers.PROVIDER": { issuer, clientId },
  "toolyard.auth.external": { issuers: [issuer] },
  "toolyard.auth.external.introspection": { clientId, clientSecret: "s" },
  "toolyard.auth.assertions": { issuers: [issuer] },
  "server.tls": { certFile: "c", keyFile: "k" },
};

/** Every configuration that the project shows: its examples, and the snippets of its pages. */
function configurations(): [place: string, value: object][] {
  const examples = readdirSync(join(root, "examples"))
    .filter((name) => name.endsWith(".json"))
    .map((name): [string, string] => [`examples/${name}`, read(`examples/${name}`)]);
  const pages = ["README.md", "examples/README.md", ...sources("docs", ".md")];
  const snippets = pages.flatMap((file) =>
    [...read(file).matchAll(/^```jsonc?\n([^]*?)^```/gm)].map(([, text = ""], index): [string, string] => [
      `${file}, snippet ${index + 1}`,
      text,
    ]),
  );
  // How long a client waits is its own affair: a configuration with that is told that it means nothing here.
  const limits = /,\s*"(?:timeout|toolTimeoutMs)": \d+/;
  const parsed = [...examples, ...snippets].map(([place, text]): [string, unknown] => [
    place,
    parse(place.includes("quick-start") ? text.replace(limits, "") : text),
  ]);
  return parsed.filter((pair): pair is [string, object] => isConfiguration(pair[1]));
}

function isConfiguration(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && ["mcpServers", "servers", "toolyard"].some((key) => key in value)
  );
}

function sources(folder: string, ending = ".ts"): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

function load(value: object) {
  return buildConfig(
    { file: "/conf/toolyard.json", text: JSON.stringify(value) },
    { cwd: "/conf", env: {}, flags: {}, homeDirectories: { config: "/c", data: "/d" }, cores: 2 },
  );
}

function attempt<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
