import { describe, expect, test } from "vitest";
import { registryChoices } from "./registry-entry.ts";
import { createInputs, variableFor } from "./registry-inputs.ts";
import { parseServerJson } from "./server-json.ts";

/** The entry of the first way, with what is missing for it. */
function entryOf(server: object, given: Record<string, readonly string[]> = {}, literalSecrets = false) {
  const { choices, unusable } = registryChoices(parseServerJson({ name: "io.github.x/y", ...server }));
  const inputs = createInputs({ server: "y", given: new Map(Object.entries(given)), literalSecrets });
  const entry = choices[0]?.toEntry(inputs);
  return {
    entry,
    missing: inputs.missing.map(({ name }) => name),
    kinds: choices.map(({ kind }) => kind),
    unusable,
    inputs,
  };
}

const stdio = { type: "stdio" };

describe("a package", () => {
  test.each([
    [
      "npm",
      { registryType: "npm", identifier: "@x/y", version: "1.2.3", runtimeHint: "npx" },
      { command: "npx", args: ["-y", "@x/y@1.2.3"] },
    ],
    ["pypi", { registryType: "pypi", identifier: "y", version: "2.0" }, { command: "uvx", args: ["y@2.0"] }],
    [
      "oci with its tag",
      { registryType: "oci", identifier: "ghcr.io/x/y:1.0.0" },
      { command: "docker", args: ["run", "-i", "--rm", "ghcr.io/x/y:1.0.0"] },
    ],
    [
      "oci with its version beside it",
      { registryType: "oci", identifier: "x/y", version: "1.0.0", registryBaseUrl: "https://docker.io" },
      { command: "docker", args: ["run", "-i", "--rm", "x/y:1.0.0"] },
    ],
    [
      "nuget",
      {
        registryType: "nuget",
        identifier: "X.Y",
        version: "0.4.0",
        packageArguments: [{ type: "positional", value: "mcp" }],
      },
      { command: "dnx", args: ["X.Y@0.4.0", "--yes", "--", "mcp"] },
    ],
    [
      "npm of another registry",
      { registryType: "npm", identifier: "y", version: "1.0.0", registryBaseUrl: "https://npm.example.com/" },
      { command: "npx", args: ["-y", "y@1.0.0"], env: { npm_config_registry: "https://npm.example.com" } },
    ],
  ])("of %s is started with its version pinned", (_what, item, expected) => {
    expect(entryOf({ packages: [{ ...item, transport: stdio }] }).entry).toEqual(expected);
  });

  test("gets its arguments in order: fixed, named, given several times, and switches", () => {
    const packageArguments = [
      { type: "positional", value: "start" },
      { type: "named", name: "--mode", default: "local", choices: ["local", "proxy"] },
      { type: "named", name: "--port", format: "number" },
      { type: "named", name: "--verbose", format: "boolean" },
      { type: "positional", valueHint: "directory", isRequired: true, isRepeated: true },
    ];
    const server = {
      packages: [{ registryType: "npm", identifier: "y", version: "1.0.0", transport: stdio, packageArguments }],
    };
    expect(entryOf(server).missing).toEqual(["directory"]);
    const { entry, missing } = entryOf(server, { directory: ["/a b", "/c"], verbose: ["true"] });
    expect(missing).toEqual([]);
    expect(entry).toEqual({
      command: "npx",
      args: ["-y", "y@1.0.0", "start", "--mode", "local", "--verbose", "/a b", "/c"],
    });
    const { inputs } = entryOf(server, { mode: ["remote"], directory: ["/a"], nonsense: ["1"] });
    expect(inputs.refused).toEqual(["mode must be one of local, proxy"]);
    expect(inputs.unused()).toEqual(["nonsense"]);
  });

  test("in a container gets its variables by name, and its mounts from their parts", () => {
    const server = {
      packages: [
        {
          registryType: "oci",
          identifier: "docker.io/mcp/files:1",
          transport: stdio,
          runtimeArguments: [
            {
              type: "named",
              name: "--mount",
              value: "type=bind,src={source_path},dst={target_path},x={unknown}",
              isRequired: true,
              variables: {
                source_path: { isRequired: true, format: "filepath" },
                target_path: { default: "/project" },
              },
            },
          ],
          environmentVariables: [
            { name: "DB_PASSWORD", isRequired: true, isSecret: true },
            { name: "OPTIONAL_KEY", isSecret: true },
          ],
        },
      ],
    };
    expect(entryOf(server).missing).toEqual(["source_path"]);
    expect(entryOf(server, { source_path: ["/srv"] }).entry).toEqual({
      command: "docker",
      args: [
        "run",
        "-i",
        "--rm",
        "--mount",
        "type=bind,src=/srv,dst=/project,x={unknown}",
        "-e",
        "DB_PASSWORD",
        "docker.io/mcp/files:1",
      ],
      env: { DB_PASSWORD: "${DB_PASSWORD}" },
    });
  });

  test("that no command starts, or that serves HTTP, is no choice, and the reason is said", () => {
    const { kinds, unusable } = entryOf({
      packages: [
        { registryType: "mcpb", identifier: "https://x/y.mcpb", transport: stdio },
        { registryType: "npm", identifier: "y", transport: { type: "streamable-http" } },
      ],
      remotes: [{ type: "websocket", url: "wss://x" }],
    });
    expect(kinds).toEqual([]);
    expect(unusable).toHaveLength(3);
    expect(unusable[1]).toContain("start it yourself and add its URL");
  });
});

describe("a remote", () => {
  const remotes = [
    {
      type: "streamable-http",
      url: "https://{tenant}.example.com/mcp",
      variables: { tenant: { isRequired: true } },
      headers: [
        {
          name: "Authorization",
          value: "Bearer {api_key}",
          variables: { api_key: { isRequired: true, isSecret: true } },
        },
        { name: "X-Region", default: "eu" },
        { name: "X-Optional" },
      ],
    },
  ];

  test("has its address and headers filled in, and its secret stays a variable", () => {
    expect(entryOf({ remotes }).missing).toEqual(["tenant"]);
    const { entry, inputs } = entryOf({ remotes }, { tenant: ["acme"], api_key: ["hunter2"] });
    expect(entry).toEqual({
      type: "http",
      url: "https://acme.example.com/mcp",
      headers: { Authorization: "Bearer ${Y_API_KEY}", "X-Region": "eu" },
    });
    expect([...inputs.variables]).toEqual([["Y_API_KEY", "hunter2"]]);
  });

  test("has the secret itself only when that was asked for", () => {
    const { entry } = entryOf({ remotes }, { tenant: ["acme"], api_key: ["hunter2"] }, true);
    expect(entry).toMatchObject({ headers: { Authorization: "Bearer hunter2" } });
  });

  test("of the older transport is one", () => {
    expect(entryOf({ remotes: [{ type: "sse", url: "https://x/sse" }] }).entry).toEqual({
      type: "sse",
      url: "https://x/sse",
    });
  });
});

test.each([
  [[], "name: Invalid key"],
  [{ name: 1 }, "name: "],
  [{ name: "x", packages: [{ registryType: "npm" }] }, "packages.0.identifier: "],
  [{ name: "x", remotes: "no" }, "remotes: "],
])("what is no server.json is refused with the place: %j", (value, message) => {
  expect(() => parseServerJson(value)).toThrow(message);
});

test.each([
  ["BRAVE_API_KEY", "BRAVE_API_KEY"],
  ["Authorization", "MY_MAPS_AUTHORIZATION"],
  ["x-key", "MY_MAPS_X_KEY"],
  ["TOKEN", "MY_MAPS_TOKEN"],
])("the secret %s is the variable %s", (name, variable) => {
  expect(variableFor("my-maps", name)).toBe(variable);
});
