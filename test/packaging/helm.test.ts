import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { type Document, type Rendered, type Values, chart, defaults, hasNoGo, render } from "./chart.ts";
import { problemsOf } from "./chart-problems.ts";
import { graceOf, nodeEnvironment, settingsOf } from "./node-settings.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const plain = join(root, "packaging/kubernetes");
const key = Buffer.alloc(32, 7).toString("base64");
const secret = { key, database: "postgres://toolyard:x@db/toolyard", tokenHash: nodeEnvironment.TOOLYARD_TOKEN_HASH };
const tried = { secret: { key, tokenHash: secret.tokenHash }, postgresql: { enabled: true, password: "Abc123" } };
const ingress = { enabled: true, host: "tools.example.com", className: "nginx", tlsSecret: "tools-tls" };
const settings = (toolyard: Values): Values => ({ config: { toolyard } });
const podOf = ({ of }: Rendered): Document => of("Deployment").spec.template.spec;

/** Runs with the configuration file that a pod would have. */
async function withConfig<T>({ of }: Rendered, use: (file: string) => Promise<T>): Promise<T> {
  const place = await mkdtemp(join(tmpdir(), "toolyard-chart-"));
  try {
    const file = join(place, "toolyard.json");
    await writeFile(file, of("ConfigMap").data["toolyard.json"]);
    return await use(file);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Without what only a release of Helm has. */
function withoutRelease(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRelease);
  if (typeof value !== "object" || value === null) return value;
  const ofHelm = /^(helm\.sh\/chart|app\.kubernetes\.io\/(instance|version|managed-by))$/;
  const kept = Object.entries(value).filter(([name]) => !ofHelm.test(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutRelease(inner)]));
}

const cases: Readonly<Record<string, { values: Values; release?: string; kinds: readonly string[] }>> = {
  "its own values": { values: {}, kinds: [] },
  "another release": { values: { replicas: 5 }, release: "blue", kinds: [] },
  "a release of a long name": { values: tried, release: `x${"-long".repeat(10)}`, kinds: ["Secret", "StatefulSet"] },
  "a Secret of its own": { values: { secret }, kinds: ["Secret"] },
  "a Secret that is there": {
    values: { secret: { name: "given" }, envFrom: [{ secretRef: { name: "more" } }] },
    kinds: [],
  },
  "an Ingress": { values: { ingress: { ...ingress, annotations: { a: "b" } } }, kinds: ["Ingress"] },
  "an Ingress without TLS": { values: { ingress: { enabled: true, host: "tools.lan" } }, kinds: ["Ingress"] },
  autoscaling: { values: { autoscaling: { enabled: true } }, kinds: ["HorizontalPodAutoscaler"] },
  "a PostgreSQL": { values: tried, kinds: ["Secret", "StatefulSet"] },
  "everything at once": {
    values: {
      ...{ ...tried, ingress, autoscaling: { enabled: true, max: 9 }, service: { type: "NodePort", port: 8080 } },
      ...settings({ noticeMs: 7_001, instances: { drainTimeoutMs: 60_000 } }),
      ...{ nodeSelector: { disk: "ssd" }, tolerations: [{ key: "a", operator: "Exists" }] },
      ...{ volumes: [{ name: "files", emptyDir: {} }], volumeMounts: [{ name: "files", mountPath: "/files" }] },
      imagePullSecrets: [{ name: "pull" }],
    },
    kinds: ["Secret", "StatefulSet", "Ingress", "HorizontalPodAutoscaler"],
  },
};
const given = ["toolyard", "blue-toolyard", "given", "more"];

describe.skipIf(hasNoGo)("the Helm chart", () => {
  test.for(Object.entries(cases))("makes documents that fit each other: %s", ([, { values, release, kinds }]) => {
    const rendered = render(values, release === undefined ? {} : { release });
    const { documents, notes } = rendered;
    const made = new Set(documents.map(({ kind }) => kind as string));
    const own = kinds.includes("Secret") ? [] : given;
    expect(problemsOf(documents, own)).toEqual([]);
    const always = ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"];
    expect([...made].toSorted()).toEqual([...always, ...kinds].toSorted());
    expect(notes).toContain(rendered.of("Deployment").metadata.name);
    expect(`${notes}${JSON.stringify(documents)}`).not.toMatch(/<no value>|%!|<nil>|e\+0/);
  });

  test("makes what the plain manifests say", async () => {
    const { of } = render({ image: "toolyard" });
    const text = await readFile(join(plain, "toolyard.yaml"), "utf8");
    for (const document of parseAllDocuments(text).map((one) => one.toJS() as Document)) {
      const made = structuredClone(of(document.kind, document.metadata.name));
      // Both give the ConfigMap's name a hash: there, kustomize does it.
      if (document.kind === "Deployment") made.spec.template.spec.volumes[0].configMap.name = "toolyard";
      // What Kubernetes takes where nothing is said.
      if (document.kind === "Service") document.spec.type = "ClusterIP";
      if (document.metadata.labels === undefined) delete made.metadata.labels;
      expect(withoutRelease(made)).toEqual(document);
    }
    const file = JSON.parse(await readFile(join(plain, "toolyard.json"), "utf8"));
    // There, the namespace is not known.
    const made = JSON.parse(of("ConfigMap").data["toolyard.json"]);
    expect(made.toolyard.allowedHosts).toEqual(expect.arrayContaining(file.toolyard.allowedHosts));
    expect({ ...made, toolyard: { ...made.toolyard, allowedHosts: file.toolyard.allowedHosts } }).toEqual(file);
    const [image] = parse(await readFile(join(plain, "kustomization.yaml"), "utf8")).images;
    expect(defaults.image).toBe(`${image.name}:${image.newTag}`);
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect([chart["version"], chart["appVersion"]]).toEqual([version, version]);
  });

  test.for(Object.entries(cases))("the gateway takes its configuration: %s", async ([, { values }]) => {
    const rendered = render(values);
    await withConfig(rendered, async (file) => {
      const env = { ...process.env, ...nodeEnvironment, POD_IP: "10.1.2.3", TOOLYARD_KEY: key };
      const main = join(root, "dist/cli/main.js");
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, "config", "check", "--config", file], {
        encoding: "utf8",
        env,
      });
      expect([status, stderr], stdout).toEqual([0, ""]);
      const had = await settingsOf(file, { POD_IP: "10.1.2.3" });
      expect(had.cluster).toMatchObject({ advertise: "10.1.2.3:7300", listen: "0.0.0.0:7300" });
      expect(podOf(rendered).terminationGracePeriodSeconds).toBe(graceOf(had));
      const [{ readinessProbe, lifecycle }] = podOf(rendered).containers;
      expect(had.noticeMs).toBeGreaterThan(1_000 * readinessProbe.periodSeconds * readinessProbe.failureThreshold);
      expect(lifecycle).toBeUndefined();
    });
  });

  test("pods of the cluster may call the Service by each of its names, or by those that are given", async () => {
    const hostsWith = async (values: Values): Promise<readonly string[]> =>
      await withConfig(render(values, { release: "blue" }), async (file) => {
        const { allowedHosts } = await settingsOf(file, { POD_IP: "10.1.2.3" });
        return allowedHosts;
      });
    const { name } = render({}, { release: "blue" }).of("Service").metadata;
    const ends = ["", ".tools", ".tools.svc", ".tools.svc.cluster.local"];
    expect(await hostsWith({})).toEqual(ends.map((end) => `${name}${end}`));
    expect(await hostsWith(settings({ allowedHosts: ["yard"] }))).toEqual(["yard"]);
  });

  test("a node has time for what it announces and for calls, in whole seconds", () => {
    const graceWith = (values: Values): number => podOf(render(values)).terminationGracePeriodSeconds;
    expect(graceWith({})).toBe(40);
    expect(graceWith(settings({ noticeMs: 8_000 }))).toBe(43);
    expect(graceWith(settings({ noticeMs: 3_001, instances: { drainTimeoutMs: 0 } }))).toBe(14);
    expect(graceWith(settings({ noticeMs: 3_600_000, instances: { drainTimeoutMs: 3_600_000 } }))).toBe(7_210);
  });

  test("another configuration has another name, so that pods are replaced; another Secret replaces them as well", () => {
    const nameWith = (values: Values): string => render(values).of("ConfigMap").metadata.name;
    expect(nameWith({})).toMatch(/^toolyard-[0-9a-f]{10}$/);
    expect(nameWith({ replicas: 7 })).toBe(nameWith({}));
    expect(nameWith(settings({ noticeMs: 6_000 }))).not.toBe(nameWith({}));
    const sumWith = (database: string): string =>
      render({ secret: { ...secret, database } }).of("Deployment").spec.template.metadata.annotations[
        "checksum/secret"
      ];
    expect(sumWith("postgres://a@b/c")).not.toBe(sumWith("postgres://a@b/d"));
    expect(render().of("Deployment").spec.template.metadata.annotations).toBeUndefined();
  });

  test("the Secret has what a node reads, or is named", () => {
    const { of } = render({ secret });
    expect(of("Secret").stringData).toEqual({
      TOOLYARD_KEY: secret.key,
      TOOLYARD_DATABASE: secret.database,
      TOOLYARD_TOKEN_HASH: secret.tokenHash,
    });
    const [container] = podOf(render({ secret: { name: "given" } })).containers;
    expect(container.envFrom).toEqual([{ secretRef: { name: "given" } }]);
    expect(container.env).toEqual([{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }]);
  });

  test("an own PostgreSQL is the one that nodes use, with connections for all of them, and only for them", () => {
    const { of } = render({ ...tried, replicas: 8 }, { release: "try" });
    const name = "try-toolyard-postgresql";
    expect(of("Secret", "try-toolyard").stringData.TOOLYARD_DATABASE).toBe(
      `postgres://toolyard:Abc123@${name}/toolyard`,
    );
    const { serviceName, template, volumeClaimTemplates } = of("StatefulSet").spec;
    const [container] = template.spec.containers;
    expect(container.args).toEqual(["-c", "max_connections=119"]);
    expect(container.env).toContainEqual({ name: "POSTGRES_USER", value: "toolyard" });
    expect([serviceName, of("Secret", name).stringData]).toEqual([name, { POSTGRES_PASSWORD: "Abc123" }]);
    expect(of("Service", name).spec.ports[0].port).toBe(5432);
    expect(volumeClaimTemplates[0].spec.resources.requests.storage).toBe("5Gi");
    const [rule, ...more] = of("NetworkPolicy", name).spec.ingress;
    const nodes = of("Deployment").spec.template.metadata.labels;
    expect([rule.from, more]).toEqual([[{ podSelector: { matchLabels: nodes } }], []]);
  });

  test("autoscaling takes the place of the number of nodes, and takes away one at a time", () => {
    const { of, notes } = render({ autoscaling: { enabled: true, min: 2, max: 8, memory: "1Gi" } });
    expect(of("Deployment").spec.replicas).toBeUndefined();
    const { minReplicas, maxReplicas, metrics, behavior } = of("HorizontalPodAutoscaler").spec;
    const target = { type: "AverageValue", averageValue: "1Gi" };
    expect([minReplicas, maxReplicas]).toEqual([2, 8]);
    expect(metrics).toEqual([{ type: "Resource", resource: { name: "memory", target } }]);
    expect(behavior.scaleDown.policies).toEqual([{ type: "Pods", value: 1, periodSeconds: 120 }]);
    expect(notes).toContain("8 nodes at most");
    expect(render({ replicas: 1_000_000 }).of("Deployment").spec.replicas).toBe(1_000_000);
  });

  test("an Ingress leads to the gateway, which knows its address", async () => {
    const urlWith = async (values: Values): Promise<string | undefined> =>
      await withConfig(render(values), async (file) => (await settingsOf(file, { POD_IP: "10.1.2.3" })).publicUrl);
    const rendered = render({ ingress });
    const { ingressClassName, rules, tls } = rendered.of("Ingress").spec;
    expect([ingressClassName, tls]).toEqual(["nginx", [{ hosts: [ingress.host], secretName: "tools-tls" }]]);
    expect(rules[0].host).toBe(ingress.host);
    expect(rules[0].http.paths[0].backend.service).toEqual({ name: "toolyard", port: { name: "http" } });
    expect(rendered.notes).toContain("https://tools.example.com/mcp");
    expect(await urlWith({ ingress })).toBe("https://tools.example.com");
    expect(await urlWith({ ingress: { ...ingress, tlsSecret: "" } })).toBe("http://tools.example.com");
    const own = settings({ publicUrl: "https://elsewhere.example/yard" });
    expect(await urlWith({ ingress, ...own })).toBe("https://elsewhere.example/yard");
  });

  test.for<[string, Values, RegExp]>([
    ["no nodes", { replicas: 0 }, /\/replicas must be >= 1/],
    ["a name that is none of the chart's", { replica: 3 }, /additional properties/],
    ["a part of a Secret", { secret: { key } }, /secret\.database is missing/],
    ["a Secret without a key", { secret: { ...secret, key: "" } }, /secret\.key is missing/],
    ["a token for its hash", { secret: { ...secret, tokenHash: "ty_x" } }, /\/secret\/tokenHash must match/],
    ["another kind of database", { secret: { ...secret, database: "mysql://db" } }, /\/secret\/database must match/],
    ["a PostgreSQL without a password", { ...tried, postgresql: { enabled: true } }, /postgresql\.password is missing/],
    ["a PostgreSQL without a key", { postgresql: { enabled: true, password: "a" } }, /secret\.key is missing/],
    ["two databases", { ...tried, secret }, /name two databases/],
    ["a password that breaks its URL", { ...tried, postgresql: { enabled: true, password: "a@b" } }, /must match/],
    ["an Ingress without a host", { ingress: { enabled: true } }, /ingress\.host is missing/],
    ["at most less than at least", { autoscaling: { enabled: true, min: 4, max: 2 } }, /max is less than/],
    ["less notice than probes take", settings({ noticeMs: 1_000 }), /noticeMs must be >= 3000/],
    ["notice in words", settings({ noticeMs: "5s" }), /noticeMs must be integer/],
    ["no cluster", settings({ cluster: null }), /must have required property 'cluster'/],
    ["one address for all", settings({ cluster: { advertise: "balancer:7300" } }), /advertise must match/],
    ["a port that nothing opens", settings({ cluster: { listen: "0.0.0.0:7301" } }), /listen must match/],
  ])("refuses %s", ([, values, why]) => {
    expect(() => render(values)).toThrow(why);
  });

  test.for<[string, readonly [string, string, string], RegExp]>([
    ["a template that does not end", ["network.yaml", "{{- end }}\n{{- end }}", "{{- end }}"], /unexpected EOF/],
    ["a template that is not there", ["network.yaml", '"toolyard.name"', '"toolyard.nam"'], /toolyard\.nam/],
    ["a wrong indent", ["deployment.yaml", "nindent 8", "nindent 3"], /deployment\.yaml/],
    ["a key that is there twice", ["deployment.yaml", "strategy:", "selector: {}\n  strategy:"], /unique/],
  ])("what renders it refuses %s", ([, change, why]) => {
    expect(() => render({}, { change })).toThrow(why);
  });

  test.for<[readonly [string, string, string], string]>([
    [["network.yaml", "targetPort: http", "targetPort: web"], "Service wants port web"],
    [["network.yaml", "port: peers", "port: peer"], "NetworkPolicy wants port peer"],
    [["deployment.yaml", "/readyz, port: http", "/readyz, port: web"], "no port web"],
    [["deployment.yaml", "- { name: tmp, mountPath", "- { name: temp, mountPath"], "no volume temp"],
    [
      ["deployment.yaml", 'secretRef: { name: {{ include "toolyard.secretName" . }}', "secretRef: { name: a"],
      "Deployment names Secret a",
    ],
    [
      ["deployment.yaml", 'kind: Deployment, name: {{ include "toolyard.name" $', 'kind: Deployment, name: {{ "b"'],
      "HorizontalPodAutoscaler names Deployment b",
    ],
    [["config.yaml", '{{ include "toolyard.configName" . }}', "toolyard"], "Deployment names ConfigMap toolyard-"],
    [["deployment.yaml", "policy/v1", "policy/v1beta1"], "PodDisruptionBudget is not of policy/v1beta1"],
    [["postgresql.yaml", "serviceName: {{ $name }}", "serviceName: c"], "StatefulSet names Service c"],
    [["_helpers.tpl", "name: postgresql", "name: toolyard"], "selects 2 kinds of pods"],
  ])("a mistake is noticed: %s", ([change, why]) => {
    const { documents } = render({ ...tried, ingress, autoscaling: { enabled: true } }, { change });
    expect(problemsOf(documents, [])).toContainEqual(expect.stringContaining(why));
  });

  test.skipIf(spawnSync("kubectl", ["--help"]).error !== undefined)("kubectl knows all that it makes", async () => {
    const place = await mkdtemp(join(tmpdir(), "toolyard-chart-"));
    try {
      const { documents } = render(cases["everything at once"]?.values);
      await writeFile(join(place, "all.yaml"), documents.map((one) => stringify(one)).join("---\n"));
      // Kustomize gives a prefix to the names of documents, and to what names one of them.
      await writeFile(join(place, "kustomization.yaml"), "resources: [all.yaml]\nnamePrefix: x-\n");
      const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", place], { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
      const made = parseAllDocuments(stdout).map((one) => one.toJS() as Document);
      expect(made.length).toBe(documents.length);
      expect(problemsOf(made, [])).toEqual([]);
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });
});
