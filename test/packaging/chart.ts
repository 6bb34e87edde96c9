import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "packaging/helm/toolyard");
const source = join(root, "test/packaging/render-chart.go");
/** Where Debian has Go's libraries. */
const libraries = "/usr/share/gocode";

const isThere =
  spawnSync("go", ["version"]).status === 0 && existsSync(`${libraries}/src/github.com/Masterminds/sprig`);
/** Where there is no Go, what renders the chart is skipped; not in CI, which gets one. */
export const hasNoGo = !isThere && process.env["CI"] === undefined;
if (hasNoGo)
  console.warn("Go is not installed: charts are not rendered (`node scripts/get-helm-renderer.mjs` installs it)");

/** The renderer, which is built once for each text of it. */
function renderer(): string {
  const hash = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const program = join(root, `.cache/render-chart-${hash}`);
  if (existsSync(program)) return program;
  const { status, stderr } = spawnSync("go", ["build", "-o", program, source], {
    encoding: "utf8",
    env: { ...process.env, GO111MODULE: "off", GOFLAGS: "", GOPATH: libraries, GOCACHE: join(root, ".cache/go") },
  });
  if (status !== 0)
    throw new Error(`the renderer could not be built; \`node scripts/get-helm-renderer.mjs\`\n${stderr}`);
  return program;
}

// oxlint-disable-next-line typescript/no-explicit-any -- whatever a chart makes is looked at
export type Document = any;
export type Values = Readonly<Record<string, unknown>>;

export interface Rendered {
  readonly documents: readonly Document[];
  readonly notes: string;
  readonly of: (kind: string, name?: string) => Document;
}

const isMap = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);

/** As Helm does: maps are merged, and `null` takes away. */
function merged(base: Values, over: Values): Values {
  const all = Object.entries({ ...base, ...over }).map(([name, value]) => {
    const before = base[name];
    return [name, isMap(before) && isMap(value) ? merged(before, value) : value];
  });
  return Object.fromEntries(all.filter(([, value]) => value !== null)) as Values;
}

const read = (name: string): string => readFileSync(join(folder, name), "utf8");
export const chart = parse(read("Chart.yaml")) as Readonly<Record<string, string>>;
export const defaults = parse(read("values.yaml")) as Document;
const isValid = new Ajv({ allErrors: true }).compile(JSON.parse(read("values.schema.json")));
const templates = Object.fromEntries(
  readdirSync(join(folder, "templates")).map((name) => [name, read(`templates/${name}`)]),
);

interface Rendering {
  readonly release?: string;
  /** Changes the templates, to see what notices it. */
  readonly change?: readonly [file: string, from: string, to: string];
}

/**
 * What `helm template` makes of the chart with these values beside its own.
 * @throws where Helm would refuse: by the values' schema, by a template, or because a document is not YAML
 */
export function render(values: Values = {}, { release = "toolyard", change }: Rendering = {}): Rendered {
  const all = merged(defaults, values);
  if (!isValid(all)) throw new Error(isValid.errors?.map((one) => `${one.instancePath} ${one.message}`).join("\n"));
  const changed = { ...templates };
  if (change !== undefined) {
    const [file, from, to] = change;
    const text = changed[file];
    if (text === undefined || !text.includes(from)) throw new Error(`${file} does not have ${from}`);
    changed[file] = text.replaceAll(from, to);
  }
  const context = {
    Values: all,
    Chart: { Name: chart["name"], Version: chart["version"], AppVersion: chart["appVersion"] },
    Release: { Name: release, Namespace: "tools", Service: "Helm" },
  };
  const { status, stdout, stderr } = spawnSync(renderer(), {
    input: JSON.stringify({ templates: changed, context }),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  const texts = JSON.parse(stdout) as Readonly<Record<string, string>>;
  const documents = Object.entries(texts)
    .filter(([name]) => name.endsWith(".yaml"))
    .flatMap(([name, text]) => parseAllDocuments(text).map((document) => ({ name, document })))
    .map(({ name, document }) => {
      const [error] = [...document.errors, ...document.warnings];
      if (error !== undefined) throw new Error(`${name}: ${error.message}`);
      return document.toJS() as Document;
    })
    .filter((document) => document !== null);
  return {
    documents,
    notes: texts["NOTES.txt"] ?? "",
    of: (kind, name = documents.find((one) => one.kind === kind)?.metadata.name) =>
      documents.find((one) => one.kind === kind && one.metadata.name === name),
  };
}
