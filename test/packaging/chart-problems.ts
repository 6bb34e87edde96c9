import type { Document } from "./chart.ts";

/** The kinds that the chart makes, by the interface that Kubernetes has for them. */
const versions: Readonly<Record<string, string>> = {
  ConfigMap: "v1",
  Secret: "v1",
  Service: "v1",
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  PodDisruptionBudget: "policy/v1",
  HorizontalPodAutoscaler: "autoscaling/v2",
  NetworkPolicy: "networking.k8s.io/v1",
  Ingress: "networking.k8s.io/v1",
};

type Labels = Readonly<Record<string, string>>;
const fits = (selector: Labels, labels: Labels): boolean =>
  Object.keys(selector).length > 0 && Object.entries(selector).every(([name, value]) => labels[name] === value);

/** What other documents a document names: kind and name. */
function namesOf({ kind, spec }: Document): readonly (readonly [string, string])[] {
  switch (kind) {
    case "Deployment":
    case "StatefulSet": {
      const { containers, volumes = [] } = spec.template.spec;
      const secrets = containers[0].envFrom.filter((one: Document) => one.secretRef !== undefined);
      const configs = volumes.filter((one: Document) => one.configMap !== undefined);
      return [
        ...secrets.map((one: Document) => ["Secret", one.secretRef.name]),
        ...configs.map((one: Document) => ["ConfigMap", one.configMap.name]),
        ...(spec.serviceName === undefined ? [] : [["Service", spec.serviceName]]),
      ];
    }
    case "HorizontalPodAutoscaler":
      return [[spec.scaleTargetRef.kind, spec.scaleTargetRef.name]];
    case "Ingress":
      return spec.rules.map((rule: Document) => ["Service", rule.http.paths[0].backend.service.name]);
    default:
      return [];
  }
}

/** The pods that a document selects, and the names of ports that it wants of them. */
function wantsOf({ kind, spec }: Document): readonly { selector: Labels; ports: readonly string[] }[] {
  switch (kind) {
    case "Service":
      return [{ selector: spec.selector, ports: spec.ports.map((one: Document) => one.targetPort) }];
    case "PodDisruptionBudget":
      return [{ selector: spec.selector.matchLabels, ports: [] }];
    case "NetworkPolicy": {
      const ports = spec.ingress.flatMap((rule: Document) => rule.ports.map((one: Document) => one.port));
      const from = spec.ingress.flatMap((rule: Document) => rule.from ?? []);
      return [
        { selector: spec.podSelector.matchLabels, ports },
        ...from.map((one: Document) => ({ selector: one.podSelector.matchLabels, ports: [] })),
      ];
    }
    default:
      return [];
  }
}

/** What is wrong with a Deployment or StatefulSet alone. */
function podProblems({ kind, spec }: Document): readonly string[] {
  const { metadata, spec: pod } = spec.template;
  const volumes = [...(pod.volumes ?? []), ...(spec.volumeClaimTemplates ?? []).map((one: Document) => one.metadata)];
  return pod.containers.flatMap((container: Document) => {
    const probes = ["startupProbe", "readinessProbe", "livenessProbe"].map((name) => container[name]?.httpGet?.port);
    const ports = container.ports.map((one: Document) => one.name);
    return [
      ...(fits(spec.selector.matchLabels, metadata.labels) ? [] : [`the ${kind} does not select its own pods`]),
      ...probes.filter((port) => port !== undefined && !ports.includes(port)).map((port) => `no port ${port}`),
      ...container.volumeMounts
        .filter(({ name }: Document) => !volumes.some((one) => one.name === name))
        .map(({ name }: Document) => `no volume ${name}`),
    ];
  });
}

/** What does not fit in the documents of one release; Secrets that are there before are `given`. */
export function problemsOf(documents: readonly Document[], given: readonly string[]): readonly string[] {
  const names = documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const known = new Set([...names, ...given.map((name) => `Secret ${name}`)]);
  const owners = documents.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  const pods = owners.map(({ spec }) => spec.template);
  const portsOf = (pod: Document): readonly string[] =>
    pod.spec.containers.flatMap((one: Document) => one.ports.map((port: Document) => port.name));
  return [
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `there are two of ${name}`),
    ...documents
      .filter(({ kind, apiVersion }) => versions[kind] !== apiVersion)
      .map(({ kind, apiVersion }) => `${kind} is not of ${apiVersion}`),
    ...documents
      .filter(({ metadata }) => !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(metadata.name))
      .map(({ metadata }) => `${metadata.name} is no name`),
    ...owners.flatMap(podProblems),
    ...documents.flatMap((one) =>
      namesOf(one)
        .map((pair) => pair.join(" "))
        .filter((name) => !known.has(name))
        .map((name) => `${one.kind} names ${name}`),
    ),
    ...documents.flatMap((one) =>
      wantsOf(one).flatMap(({ selector, ports }) => {
        const selected = pods.filter(({ metadata }) => fits(selector, metadata.labels));
        if (selected.length !== 1) return [`${one.kind} ${one.metadata.name} selects ${selected.length} kinds of pods`];
        return ports
          .filter((port) => !portsOf(selected[0]).includes(port))
          .map((port) => `${one.kind} wants port ${port}`);
      }),
    ),
  ];
}
