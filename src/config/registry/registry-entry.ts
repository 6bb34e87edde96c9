import type { Inputs } from "./registry-inputs.ts";
import type { ServerArgument, ServerJson, ServerPackage, ServerRemote } from "./server-json.ts";

/** One of the ways in which a server of the registry can be used. */
export interface RegistryChoice {
  /** `npm`, `pypi`, `oci`, `nuget`, or `remote`. */
  readonly kind: string;
  /** The program that has to be installed; undefined for a remote server. */
  readonly command: string | undefined;
  /** The entry for the configuration. Collects its missing inputs in `inputs`. */
  toEntry(inputs: Inputs): object;
}

/** The ways that can be used, in the order of the registry, packages before remotes; and why others cannot. */
export function registryChoices({ packages, remotes }: ServerJson): {
  readonly choices: readonly RegistryChoice[];
  readonly unusable: readonly string[];
} {
  const choices: RegistryChoice[] = [];
  const unusable: string[] = [];
  for (const item of packages) {
    const runtime = Object.hasOwn(runtimes, item.registryType) ? runtimes[item.registryType] : undefined;
    if (runtime === undefined) unusable.push(`a package of ${item.registryType} cannot be started by a command`);
    else if (item.transport.type !== "stdio")
      unusable.push(
        `the ${item.registryType} package serves ${item.transport.type}: start it yourself and add its URL`,
      );
    else choices.push(packageChoice(item, runtime));
  }
  for (const item of remotes) {
    if (item.type === "streamable-http" || item.type === "sse") choices.push(remoteChoice(item));
    else unusable.push(`a remote of the type ${item.type} is not known`);
  }
  return { choices, unusable };
}

interface Runtime {
  readonly command: string;
  readonly baseUrl: string;
  /** Around the package's own arguments. `environment` are the names of its variables. */
  toArgs(parts: RuntimeParts): readonly string[];
  /** What makes the runtime look in another registry than its usual one. */
  toEnv?(baseUrl: string): Readonly<Record<string, string>>;
}

interface RuntimeParts {
  readonly command: string;
  readonly package: ServerPackage;
  readonly runtimeArgs: readonly string[];
  readonly packageArgs: readonly string[];
  readonly environment: readonly string[];
}

/** Each pins the version: what runs changes when the configuration does, and not when somebody publishes something. */
const runtimes: Readonly<Record<string, Runtime>> = {
  npm: {
    command: "npx",
    baseUrl: "https://registry.npmjs.org",
    toArgs: ({ command, package: { identifier, version }, runtimeArgs, packageArgs }) => [
      ...(command === "npx" ? yesTo(runtimeArgs) : []),
      ...runtimeArgs,
      withVersion(identifier, version),
      ...packageArgs,
    ],
    toEnv: (baseUrl) => ({ npm_config_registry: baseUrl }),
  },
  pypi: {
    command: "uvx",
    baseUrl: "https://pypi.org",
    toArgs: ({ package: { identifier, version }, runtimeArgs, packageArgs }) => [
      ...runtimeArgs,
      withVersion(identifier, version),
      ...packageArgs,
    ],
    toEnv: (baseUrl) => ({ UV_DEFAULT_INDEX: `${baseUrl.replace(/\/$/, "")}/simple` }),
  },
  oci: {
    command: "docker",
    baseUrl: "https://docker.io",
    toArgs: ({ package: item, runtimeArgs, packageArgs, environment }) => [
      ...(runtimeArgs[0] === "run" ? [] : ["run"]),
      ...["-i", "--rm"].filter((flag) => !runtimeArgs.includes(flag)),
      ...runtimeArgs,
      ...environment.flatMap((name) => ["-e", name]),
      imageOf(item),
      ...packageArgs,
    ],
  },
  nuget: {
    command: "dnx",
    baseUrl: "https://api.nuget.org",
    toArgs: ({ package: { identifier, version }, runtimeArgs, packageArgs }) => [
      withVersion(identifier, version),
      "--yes",
      ...runtimeArgs,
      ...(packageArgs.length === 0 ? [] : ["--", ...packageArgs]),
    ],
  },
};

/** npx asks before it installs, and no one could answer. */
function yesTo(runtimeArgs: readonly string[]): readonly string[] {
  return runtimeArgs.some((argument) => argument === "-y" || argument === "--yes") ? [] : ["-y"];
}

function withVersion(identifier: string, version: string | undefined): string {
  return version === undefined ? identifier : `${identifier}@${version}`;
}

/** An identifier has the tag or digest in it; older ones have it beside it. */
function imageOf({ identifier, version, registryBaseUrl }: ServerPackage): string {
  const last = identifier.slice(identifier.lastIndexOf("/") + 1);
  const image = version === undefined || /[:@]/.test(last) ? identifier : `${identifier}:${version}`;
  const host = registryBaseUrl?.replace(/^https?:\/\//, "").replace(/\/$/, "");
  return host === undefined || host === "docker.io" || image.startsWith(`${host}/`) ? image : `${host}/${image}`;
}

function packageChoice(item: ServerPackage, runtime: Runtime): RegistryChoice {
  const command = item.runtimeHint ?? runtime.command;
  return {
    kind: item.registryType,
    command,
    toEntry(inputs) {
      const pairs = item.environmentVariables.flatMap((variable) => {
        const value = inputs.resolve(variable.name, variable);
        return value === undefined ? [] : [[variable.name, value] as const];
      });
      const base = item.registryBaseUrl?.replace(/\/$/, "");
      const elsewhere = base === undefined || base === runtime.baseUrl ? {} : (runtime.toEnv?.(base) ?? {});
      const env = { ...elsewhere, ...Object.fromEntries(pairs) };
      const args = runtime.toArgs({
        command,
        package: item,
        runtimeArgs: item.runtimeArguments.flatMap((argument) => toWords(argument, inputs)),
        packageArgs: item.packageArguments.flatMap((argument) => toWords(argument, inputs)),
        environment: pairs.map(([name]) => name),
      });
      return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
    },
  };
}

function toWords(argument: ServerArgument, inputs: Inputs): readonly string[] {
  if (argument.type === "positional") return inputs.resolveAll(argument.valueHint ?? "argument", argument);
  const { name, format } = argument;
  const values = inputs.resolveAll(name.replace(/^-+/, ""), argument);
  // A switch is there or not; it has no value.
  if (format === "boolean") return values.includes("true") ? [name] : [];
  return values.flatMap((value) => [name, value]);
}

function remoteChoice({ type, url, headers, variables }: ServerRemote): RegistryChoice {
  return {
    kind: "remote",
    command: undefined,
    toEntry(inputs) {
      const address = inputs.resolve("url", { value: url, variables, isRequired: true, isSecret: false });
      const pairs = headers.flatMap((header) => {
        const value = inputs.resolve(header.name, header);
        return value === undefined ? [] : [[header.name, value] as const];
      });
      return {
        type: type === "sse" ? "sse" : "http",
        url: address ?? url,
        ...(pairs.length === 0 ? {} : { headers: Object.fromEntries(pairs) }),
      };
    },
  };
}
