import { noToolRules } from "../../../test/harness/fake-server.ts";
import { describe, expect, test } from "vitest";
import type { PrincipalId, ServerSlug } from "../../kernel/ids.ts";
import type { People, ServerConfig, ServerOverrides, Settings, Transport } from "../config.ts";
import { hashTransport } from "../file/hash.ts";
import { createConfigDirectory } from "../../people/directory/config-directory.ts";
import { personalServer as mergePersonal, type PersonalServer } from "./personal.ts";

const stdio: Transport = {
  kind: "stdio",
  command: "npx",
  args: ["-y", "server-github"],
  env: { TOKEN: "template", ORG: "template", KEEP: "k" },
  cwd: "/srv",
};
const http: Transport = {
  kind: "http",
  url: "https://h/mcp",
  headers: { Authorization: "Bearer template", "X-Org": "template" },
};

function server(transport: Transport, required: Partial<ServerConfig["required"]> = {}): ServerConfig {
  return {
    slug: "github" as ServerSlug,
    key: "github",
    displayName: "GitHub",
    transport,
    disabledReason: undefined,
    namespace: "github",
    category: undefined,
    icon: undefined,
    priority: "normal",
    roots: undefined,
    scope: "user",
    startTimeoutMs: undefined,
    discoveryTimeoutMs: 1,
    callTimeoutMs: 1,
    maxCallTimeoutMs: 1,
    idleTimeoutMs: 1,
    stateful: false,
    staysForClients: false,
    retry: true,
    strictResults: false,
    annotations: "raise",
    definitions: undefined,
    content: [],
    maxResultTokens: undefined,
    requestLogging: "metadata",
    interactive: false,
    replicas: 1,
    exclusive: false,
    files: undefined,
    place: { labels: {}, everyNode: false },
    breaker: false,
    tools: noToolRules,
    required: { user: [], team: [], ...required },
    optional: { user: [], team: [] },
    hash: hashTransport(transport),
  };
}

function people(user: ServerOverrides, team: ServerOverrides = {}): People {
  const alice = {
    id: "alice" as PrincipalId,
    team: "acme",
    tokenHashes: [],
    roles: [],
    servers: new Map([["github", user]]),
  };
  return {
    principals: new Map([["alice", alice]]),
    teams: new Map([["acme", new Map([["github", team]])]]),
  };
}

const auth = { tokenHashes: [], insecure: false, allowTokenInUrl: false };
const settings = { auth, profiles: {} } as unknown as Settings;

function personalServer(template: ServerConfig, members: People, id: string): PersonalServer {
  const { valuesFor } = createConfigDirectory({ people: members, settings });
  return mergePersonal(template, valuesFor(id as PrincipalId, template.slug));
}

const nobody: People = { principals: new Map(), teams: new Map() };

test("template < team < user: env by name, args appended in that order", () => {
  const merged = personalServer(
    server(stdio),
    people({ env: { TOKEN: "alice" }, args: ["--mine"] }, { env: { TOKEN: "team", ORG: "acme" }, args: ["--team"] }),
    "alice",
  );
  expect(merged.server.transport).toEqual({
    ...stdio,
    args: ["-y", "server-github", "--team", "--mine"],
    env: { TOKEN: "alice", ORG: "acme", KEEP: "k" },
  });
  expect(merged).toMatchObject({ missing: [], ignored: [] });
  expect(Object.isFrozen(merged.server.transport)).toBe(true);
});

test("headers are merged without regard to case", () => {
  const merged = personalServer(
    server(http),
    people({ headers: { authorization: "Bearer alice" } }, { headers: { "x-org": "acme" } }),
    "alice",
  );
  expect(merged.server.transport).toEqual({
    ...http,
    headers: { authorization: "Bearer alice", "x-org": "acme" },
  });
});

test("the hash is that of the merged values: the same for the same, another for another", () => {
  const template = server(stdio);
  const hash = (overrides: ServerOverrides) => personalServer(template, people(overrides), "alice").server.hash;
  expect(hash({})).toBe(template.hash);
  expect(hash({ env: { TOKEN: "a" } })).not.toBe(template.hash);
  expect(hash({ env: { TOKEN: "a", B: "b" } })).toBe(hash({ env: { B: "b", TOKEN: "a" } }));
  expect(personalServer(template, people({ env: { TOKEN: "a" } }), "bob").server.hash).toBe(template.hash);
});

describe("required values", () => {
  const needs = server(stdio, { user: ["env.TOKEN"], team: ["env.ORG"] });

  test("of a user must come from the user: the template's or the team's is somebody else's secret", () => {
    expect(personalServer(needs, people({}, { env: { TOKEN: "team", ORG: "acme" } }), "alice").missing).toEqual([
      "env.TOKEN",
    ]);
    expect(personalServer(needs, people({ env: { TOKEN: "" } }, { env: { ORG: "acme" } }), "alice").missing).toEqual([
      "env.TOKEN",
    ]);
    expect(
      personalServer(needs, people({ env: { TOKEN: "alice" } }, { env: { ORG: "acme" } }), "alice").missing,
    ).toEqual([]);
    expect(personalServer(needs, people({}), "stranger").missing).toEqual(["env.TOKEN", "env.ORG"]);
  });

  test("of a team may come from the user, too", () => {
    expect(personalServer(needs, people({ env: { TOKEN: "alice", ORG: "own" } }), "alice").missing).toEqual([]);
  });

  test("where there are no principals, the template speaks for its one user", () => {
    expect(personalServer(needs, nobody, "local").missing).toEqual([]);
    expect(personalServer(server(stdio, { user: ["env.OTHER"] }), nobody, "local").missing).toEqual(["env.OTHER"]);
  });

  test("headers count without regard to case", () => {
    const remote = server(http, { user: ["headers.Authorization"] });
    expect(personalServer(remote, people({ headers: { AUTHORIZATION: "Bearer alice" } }), "alice").missing).toEqual([]);
  });

  test("FAULT 88: an override whose variable is not set is missing and never falls back to the template", () => {
    expect(personalServer(server(stdio), people({ missing: ["env.TOKEN"] }), "alice").missing).toEqual(["env.TOKEN"]);
    expect(
      personalServer(server(stdio), people({ env: { TOKEN: "own" } }, { missing: ["env.TOKEN", "env.ORG"] }), "alice")
        .missing,
    ).toEqual(["env.ORG"]);
  });
});

describe("FAULT 91: a member gives values, never another program", () => {
  const dangerous = [
    "PATH",
    "Path",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "node_options",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_x%%",
    "PERL5OPT",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_COUNT",
    "GIT_EXTERNAL_DIFF",
    "npm_config_registry",
    "NPM_CONFIG_SCRIPT_SHELL",
    "UV_INDEX_URL",
    "PIP_INDEX_URL",
    "HOME",
    "HTTPS_PROXY",
    "DOCKER_HOST",
    "TOOLYARD_INSTANCE",
  ];

  test.each(dangerous)("the variable %s is ignored, from a person and from a team", (name) => {
    const overrides = { env: { [name]: "evil", GITHUB_TOKEN: "fine" } };
    for (const members of [people(overrides), people({}, overrides)]) {
      const { server: merged, ignored } = personalServer(server(stdio), members, "alice");
      expect(merged.transport).toMatchObject({
        env: { TOKEN: "template", ORG: "template", KEEP: "k", GITHUB_TOKEN: "fine" },
      });
      expect(Object.values((merged.transport as typeof stdio & { env: object }).env)).not.toContain("evil");
      expect(ignored).toEqual([`env.${name}`]);
    }
  });

  test("command, cwd and url of an override are not even looked at", () => {
    const overrides = { command: "sh", cwd: "/", url: "https://evil", env: {} } as ServerOverrides;
    expect(personalServer(server(stdio), people(overrides), "alice").server.transport).toEqual(stdio);
    expect(personalServer(server(http), people(overrides), "alice").server.transport).toEqual(http);
  });

  test.each([
    ["npx", ["-y", "server"], ["-c", "id"]],
    ["npx", ["-y", "server"], ["--call=id"]],
    ["npx", ["-y"], ["evil-package"]],
    ["node", [], ["evil.js"]],
    ["/usr/bin/node", ["server.js"], ["-e", "process.exit()"]],
    ["node", ["server.js"], ["--import=data:text/javascript,0"]],
    ["python3.12", ["server.py"], ["-c", "pass"]],
    ["C:\\nodejs\\node.exe", [], ["x.js"]],
    ["bash", [], ["-c", "id"]],
    ["env", [], ["sh"]],
    ["env", ["A=b"], ["sh"]],
    ["docker", [], ["run", "--privileged", "x"]],
  ])("arguments that %s %j would run as code are ignored: %j", (command, args, more) => {
    const template: Transport = { kind: "stdio", command, args, env: {}, cwd: "/srv" };
    expect(personalServer(server(template), people({ args: more }), "alice")).toMatchObject({
      server: { transport: template },
      ignored: ["args"],
    });
  });

  test.each([
    ["npx", ["-y", "server"], ["--read-only", "folder"]],
    ["my-server", [], ["-c", "config.toml"]],
  ])("other arguments of %s %j are kept: %j", (command, args, more) => {
    const template: Transport = { kind: "stdio", command, args, env: {}, cwd: "/srv" };
    expect(personalServer(server(template), people({ args: more }), "alice")).toMatchObject({
      server: { transport: { args: [...args, ...more] } },
      ignored: [],
    });
  });

  test.each([
    "Host",
    "content-length",
    "Transfer-Encoding",
    "Mcp-Session-Id",
    "Proxy-Authorization",
    "X-Forwarded-For",
  ])("the header %s is ignored", (name) => {
    expect(personalServer(server(http), people({ headers: { [name]: "evil" } }), "alice")).toMatchObject({
      server: { transport: http },
      ignored: [`headers.${name}`],
    });
  });
});
