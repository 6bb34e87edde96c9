import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { graceOf, settingsOf } from "./node-settings.ts";

const folder = fileURLToPath(new URL("../../packaging", import.meta.url));
const has = (command: string): boolean => spawnSync(command, ["--help"]).error === undefined;

describe("Kubernetes", async () => {
  const text = await readFile(join(folder, "kubernetes/toolyard.yaml"), "utf8");
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever is written there is looked at
  const documents = parseAllDocuments(text).map((document) => document.toJS() as any);
  const of = (kind: string) => documents.find((one) => one.kind === kind).spec;
  const pod = of("Deployment").template.spec;
  const [container] = pod.containers;

  test("a rolling update has one pod more, and never one less, and each has time to hand over", async () => {
    expect(of("Deployment").strategy).toEqual({
      type: "RollingUpdate",
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    const settings = await settingsOf(join(folder, "kubernetes/toolyard.json"), { POD_IP: "10.1.2.3" });
    expect(settings.noticeMs).toBeGreaterThan(1_000 * container.readinessProbe.failureThreshold);
    expect(pod.terminationGracePeriodSeconds).toBe(graceOf(settings));
    expect(container.lifecycle).toBeUndefined();
    expect(of("PodDisruptionBudget").maxUnavailable).toBe(1);
  });

  test("a pod tells others the address that they reach, at the port that only they may reach", async () => {
    const { cluster } = await settingsOf(join(folder, "kubernetes/toolyard.json"), { POD_IP: "10.1.2.3" });
    expect(cluster).toMatchObject({ advertise: "10.1.2.3:7300", listen: "0.0.0.0:7300" });
    const ip = { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } };
    expect(container.env).toEqual([ip]);
    expect(container.envFrom).toEqual([{ secretRef: { name: "toolyard" } }]);
    const ports = Object.fromEntries(
      container.ports.map((one: { name: string; containerPort: number }) => [one.name, one.containerPort]),
    );
    expect(ports).toEqual({ http: 3001, peers: 7300 });
    const labels = of("Deployment").template.metadata.labels;
    const [clients, peers] = of("NetworkPolicy").ingress;
    expect(clients).toEqual({ ports: [{ port: "http" }] });
    expect(peers).toEqual({ from: [{ podSelector: { matchLabels: labels } }], ports: [{ port: "peers" }] });
    for (const kind of ["NetworkPolicy", "PodDisruptionBudget", "Service", "Deployment"]) {
      const { podSelector, selector } = of(kind);
      const selected = podSelector ?? selector;
      expect(selected.matchLabels ?? selected).toEqual(labels);
    }
    expect(of("Service").ports).toEqual([{ name: "http", port: 80, targetPort: "http" }]);
  });

  test("probes ask for what a gateway answers by any Host, and the pod has no rights", () => {
    const { readinessProbe, livenessProbe, startupProbe, securityContext } = container;
    expect(readinessProbe.httpGet).toEqual({ path: "/readyz", port: "http" });
    for (const probe of [livenessProbe, startupProbe])
      expect(probe.httpGet).toEqual({ path: "/healthz", port: "http" });
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([
      "/config",
      "/data",
      "/tmp",
    ]);
  });

  test.skipIf(!has("kubectl"))("kustomize makes one configuration of it, whose name follows its text", async () => {
    const place = await mkdtemp(join(tmpdir(), "toolyard-kustomize-"));
    const build = (): { name: string; used: string } => {
      const { stdout, stderr } = spawnSync("kubectl", ["kustomize", place], { encoding: "utf8" });
      expect(stderr).toBe("");
      // oxlint-disable-next-line typescript/no-explicit-any -- as above
      const made = parseAllDocuments(stdout).map((document) => document.toJS() as any);
      const find = (kind: string) => made.find((one) => one.kind === kind);
      const [config] = find("Deployment").spec.template.spec.volumes;
      return { name: find("ConfigMap").metadata.name, used: config.configMap.name };
    };
    try {
      await cp(join(folder, "kubernetes"), place, { recursive: true });
      const first = build();
      expect(first.used).toBe(first.name);
      const file = join(place, "toolyard.json");
      await writeFile(file, (await readFile(file, "utf8")).replace("5000", "6000"));
      expect(build().name).not.toBe(first.name);
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });
});

describe("Compose", async () => {
  const text = await readFile(join(folder, "compose/compose.yaml"), "utf8");
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever is written there is looked at
  const { services } = parse(text, { merge: true }) as any;
  const names = ["one", "two", "three"];

  test("three nodes of one name each, with one key and one database, and time to hand over", async () => {
    const settings = await settingsOf(join(folder, "compose/toolyard.json"), {});
    expect(settings.cluster).toMatchObject({ listen: "0.0.0.0:7300" });
    for (const name of names) {
      const node = services[name];
      expect(node).toMatchObject({ hostname: name, read_only: true, cap_drop: ["ALL"], init: true });
      expect(node.stop_grace_period).toBe(`${graceOf(settings)}s`);
      expect(node.volumes).toEqual(["./toolyard.json:/config/toolyard.json:ro"]);
      expect(Object.keys(node.environment)).toEqual(["TOOLYARD_KEY", "TOOLYARD_TOKEN_HASH", "TOOLYARD_DATABASE"]);
      expect(node.depends_on.postgres.condition).toBe("service_healthy");
      expect(node.ports).toBeUndefined();
    }
    expect(services.postgres.healthcheck.test).toContain("pg_isready");
    expect(services.balancer.ports).toEqual(["127.0.0.1:3001:3001"]);
  });

  test("the balancer follows /readyz, and repeats only what reached no gateway", async () => {
    const haproxy = await readFile(join(folder, "compose/haproxy.cfg"), "utf8");
    const lines = haproxy.split("\n").map((line) => line.trim());
    expect(lines.filter((line) => line.startsWith("retry-on"))).toEqual(["retry-on conn-failure"]);
    expect(haproxy).toMatch(/http-check send meth GET uri \/readyz .*hdr Host/);
    const servers = lines.filter((line) => line.startsWith("server "));
    expect(servers).toEqual(names.map((name) => `server ${name} ${name}:3001`));
    const settings = await settingsOf(join(folder, "compose/toolyard.json"), {});
    expect(settings.noticeMs).toBeGreaterThan(2_000);
  });

  test.skipIf(!has("haproxy"))("HAProxy takes its configuration without a warning", () => {
    const { status, stdout, stderr } = spawnSync("haproxy", ["-c", "-f", join(folder, "compose/haproxy.cfg")], {
      encoding: "utf8",
    });
    // The names are those of containers, which are not here.
    const said = `${stdout}${stderr}`.split("\n").filter((line) => /WARNING|ALERT/.test(line));
    expect([status, said.filter((line) => !line.includes("could not resolve address"))]).toEqual([0, []]);
  });
});
