import { existsSync } from "node:fs";
import { parseJson, isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Environment } from "../process/child-environment.ts";
import { findIn, runBriefly } from "./bubblewrap.ts";
import { hasNames, type FoundEngine, type NoEngine } from "./confined-parts.ts";
import { containerKinds, traceOf, type ContainerKind } from "./container-arguments.ts";
import { prepareContainer, sweepContainers, type ContainerEngine } from "./container-start.ts";

/** A machine of its own may have to be woken up. */
const askMs = 20_000;

/** Asks an engine what it is. Never rejects. */
export async function probeContainers(kind: ContainerKind, environment: Environment): Promise<FoundEngine | NoEngine> {
  const path = environment["PATH"] ?? "";
  const file = await findIn(path, kind);
  if (file === undefined) return { why: `${kind} is not installed`, hint: "Install it, or choose another engine." };
  const env = engineEnvironment(environment);
  const { text } = await runBriefly(file, ["info", "--format", "{{json .}}"], { env, timeoutMs: askMs });
  const said = readAnswer(text);
  const facts = kind === "docker" ? dockerFacts(said) : podmanFacts(said);
  if ("why" in facts) return said === undefined ? { ...facts, why: `${facts.why}${lastLine(text)}` } : facts;
  // Sockets are opened by us, in a network on this machine.
  const nsenter = kind === "podman" && !facts.isRemote ? await findIn(path, "nsenter") : undefined;
  const engine: ContainerEngine = { kind, file, env, nsenter, isRootless: facts.isRootless };
  return {
    name: `${kind} ${facts.version}`,
    lacks: (rules) => whatLacks(engine, rules),
    prepare: async (wanted, own, signal) => await prepareContainer(wanted, { engine, own }, signal),
  };
}

const ownVariables =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|XDG_.*|DOCKER_.*|CONTAINERS?_.*)$/;

function engineEnvironment(environment: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && ownVariables.test(entry[0]),
    ),
  );
}

/** Warnings may come before it. */
function readAnswer(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function lastLine(text: string): string {
  const line = text.trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : ` (${line.slice(0, 200)})`;
}

interface EngineFacts {
  readonly version: string;
  readonly isRootless: boolean;
  readonly isRemote: boolean;
}

function dockerFacts(said: JsonObject | undefined): EngineFacts | NoEngine {
  if (isJsonObject(said?.["host"])) return { why: "docker is podman here", hint: 'Write `"engine": "podman"`.' };
  const version = said?.["ServerVersion"];
  if (said === undefined || typeof version !== "string" || version === "")
    return { why: "docker's daemon does not answer", hint: "Start it, and let the gateway's user use it." };
  if (said["OSType"] !== "linux") return { why: "docker has no Linux containers here", hint: "Switch to them." };
  if (said["MemoryLimit"] !== true || said["PidsLimit"] !== true) return withoutLimits("docker");
  const options = said["SecurityOptions"];
  const isRootless = Array.isArray(options) && options.some((one) => String(one).includes("name=rootless"));
  return { version, isRootless, isRemote: true };
}

function podmanFacts(said: JsonObject | undefined): EngineFacts | NoEngine {
  const { host, version } = said ?? {};
  if (!isJsonObject(host)) return { why: "podman does not work", hint: "`podman info` says why." };
  const controllers = host["cgroupControllers"];
  if (!Array.isArray(controllers) || !["memory", "pids"].every((one) => controllers.includes(one)))
    return withoutLimits("podman");
  const { security } = host;
  return {
    version: isJsonObject(version) ? String(version["Version"]) : "",
    isRootless: isJsonObject(security) && security["rootless"] === true,
    isRemote: host["serviceIsRemote"] === true,
  };
}

function withoutLimits(kind: ContainerKind): NoEngine {
  return {
    why: `${kind} may limit neither memory nor processes here`,
    hint: "Without root it needs control groups of version 2 that belong to its user.",
  };
}

function whatLacks({ kind, nsenter }: ContainerEngine, rules: Parameters<FoundEngine["lacks"]>[0]) {
  if (rules.image === undefined)
    return { why: `${kind} needs an image`, hint: "Name one in `sandbox.image` of the entry." };
  if (hasNames(rules) && nsenter === undefined)
    return kind === "docker"
      ? {
          why: "docker cannot be held to hosts by their names",
          hint: 'Write `"network": []` or `"host"` in `sandbox`, or choose bubblewrap or podman.',
        }
      : {
          why: "podman can be held to hosts by their names only on Linux, with `nsenter` of util-linux",
          hint: 'Install it, or write `"network": []` or `"host"` in `sandbox`.',
        };
  return undefined;
}

/**
 * Removes containers that killed gateways of this data directory left behind, with the engines that it ever used.
 * Resolves to how many. Rejects where an engine does not answer any more.
 */
export async function sweepEngines(dataDir: string, environment: Environment): Promise<number> {
  const kinds = containerKinds.filter((kind) => existsSync(traceOf(dataDir, kind)));
  const counts = await Promise.all(
    kinds.map(async (kind) => {
      const file = await findIn(environment["PATH"] ?? "", kind);
      return file === undefined
        ? 0
        : await sweepContainers({ kind, file, env: engineEnvironment(environment) }, dataDir);
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
