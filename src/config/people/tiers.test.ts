import fc from "fast-check";
import { expect, test } from "vitest";
import type { StdioTransport } from "../config.ts";
import { buildConfig } from "../load.ts";
import { parseServerJson } from "../registry/server-json.ts";
import { toRegistryTemplate } from "../registry/registry-template.ts";
import { buildTemplateServer } from "./personal.ts";
import { parseTierFields, tiers, type TierField, type TierValues } from "./tier-fields.ts";
import { mayGive, mergeTiers, type TieredServer } from "./tiers.ts";

const homeDirectories = { config: "/h", data: "/h" };
const { inherited } = buildConfig(undefined, { cwd: "/", env: { HOME: "/root" }, flags: {}, homeDirectories });

function tiered(entry: object, fields: readonly Partial<TierField>[], locks: readonly string[] = []): TieredServer {
  const built = buildTemplateServer("mail", entry, {
    inherited: inherited as NonNullable<typeof inherited>,
    directory: "/",
    fields,
  });
  if (built === undefined) throw new Error("no server");
  const { server } = built;
  expect(server.disabledReason).toBeUndefined();
  return { server, fields: parseTierFields(fields, server.transport.kind), locks };
}

const merge = (server: TieredServer, team: TierValues, user: TierValues | undefined = {}) =>
  mergeTiers(server, { team, user, secret: (name) => ({ KEY: "k€y &=" })[name] });

const program = { command: "/usr/bin/mail-server", args: ["serve"], env: { BASE: "template" } };
const remote = { url: "https://mail.example.com/mcp?v=1", headers: { "X-Team": "template" } };

test("a later tier takes an earlier one's place, and arguments are appended in the template's order", () => {
  const server = tiered(program, [
    { path: "env.REGION", default: "eu" },
    { path: "args.region", flag: "--region", default: "eu" },
    { path: "args.verbose", flag: "-v", type: "boolean" },
    { path: "args" },
  ]);
  expect(merge(server, {}).server.transport).toMatchObject({
    args: ["serve", "--region", "eu"],
    env: { BASE: "template", REGION: "eu" },
  });
  const both = merge(
    server,
    { "env.REGION": "us", args: ["--team"] },
    { "args.region": "ap", "args.verbose": "true", args: ["--mine"] },
  );
  expect(both.server.transport).toMatchObject({
    args: ["serve", "--region", "ap", "-v", "--team", "--mine"],
    env: { REGION: "us" },
  });
  expect([both.missing, both.ignored]).toEqual([[], []]);
  expect(both.server.hash).not.toBe(merge(server, {}).server.hash);
});

test("headers have no case, parameters are encoded, and secrets of the team are filled in where template and team name them", () => {
  const server = tiered(remote, [
    { path: "headers.X-Team", tier: "team" },
    { path: "query.key" },
    { path: "headers.X-Own" },
  ]);
  const { transport } = merge(
    server,
    { "headers.x-team": "${secret:KEY}" },
    { "query.key": "a b&c", "headers.X-Own": "${secret:KEY}" },
  ).server;
  expect(transport).toMatchObject({
    url: "https://mail.example.com/mcp?v=1&key=a+b%26c",
    // What a member writes is never looked up: it would be sent to wherever they can read it.
    headers: { "X-Team": "k€y &=", "X-Own": "${secret:KEY}" },
  });
  const inUrl = merge(tiered({ url: "https://mail.example.com/mcp?k=${secret:KEY}" }, []), {}).server.transport;
  expect(inUrl).toMatchObject({ url: "https://mail.example.com/mcp?k=k%E2%82%ACy%20%26%3D" });
  expect(merge(tiered({ ...remote, headers: { A: "${secret:NONE}" } }, []), {}).missing).toEqual([
    { path: "secret:NONE", tier: "team" },
  ]);
});

test("a required value of a person never comes from the team, unless the team keeps it to itself or shares a process", () => {
  const fields = [{ path: "env.KEY", type: "secret", required: true }] as const;
  const server = tiered(program, fields);
  expect(merge(server, { "env.KEY": "of the team" }).missing).toEqual([{ path: "env.KEY", tier: "user" }]);
  expect(merge(server, {}, { "env.KEY": "mine" }).missing).toEqual([]);
  const locked = tiered(program, fields, ["env.KEY"]);
  expect(merge(locked, {}, { "env.KEY": "mine" })).toMatchObject({
    missing: [{ path: "env.KEY", tier: "team" }],
    ignored: ["env.KEY"],
  });
  expect(merge(locked, { "env.KEY": "of the team" }, { "env.KEY": "mine" }).server.transport).toMatchObject({
    env: { KEY: "of the team" },
  });
  expect(
    mergeTiers(server, { team: { "env.KEY": "of the team" }, user: undefined, secret: () => undefined }).missing,
  ).toEqual([]);
});

test("what is locked is not given in another way: in other letters, as an argument, in the address, or by a secret's name", () => {
  const secret = (name: string) => ({ KEY: "of the team" })[name];
  const fields = [{ path: "headers.X-Team" }, { path: "headers.X-Own" }, { path: "query.key" }];
  const server = tiered(remote, fields, ["headers.x-team", "query.key"]);
  const user = { "headers.X-TEAM": "mine", "headers.x-own": "${secret:KEY}", "query.key": "mine" };
  const merged = mergeTiers(server, { team: {}, user, secret });
  expect(merged.ignored).toEqual(["headers.X-TEAM", "query.key"]);
  expect(merged.server.transport).toMatchObject({
    url: remote.url,
    headers: { "X-Team": "template", "X-Own": "${secret:KEY}" },
  });
  const named = [{ path: "args.region", flag: "--region", locked: true, default: "eu" }, { path: "args" }] as const;
  const locked = tiered(program, named, ["args"]);
  const given = mergeTiers(locked, { team: {}, user: { "args.region": "us", args: ["--region", "us"] }, secret });
  expect(given.ignored).toEqual(["args.region", "args"]);
  expect(given.server.transport).toMatchObject({ args: ["serve", "--region", "eu"] });
});

test("a locked flag is not given among further arguments, as the value of another one, or in a secret of the team", () => {
  const server = tiered(program, [
    { path: "args.region", flag: "--region", tier: "template", default: "eu" },
    { path: "args.note" },
    { path: "args" },
  ]);
  const secret = (name: string) => ({ KEY: "--region=us" })[name];
  for (const values of [{ args: ["--region", "us"] }, { args: ["x", "--reg=us"] }, { "args.note": "--region=us" }]) {
    const merged = mergeTiers(server, { team: {}, user: values, secret });
    expect(merged.server.transport).toMatchObject({ args: ["serve", "--region", "eu"] });
    expect(merged.ignored).toEqual(Object.keys(values));
  }
  const hidden = mergeTiers(server, { team: { args: ["${secret:KEY}"] }, user: { args: ["--mine"] }, secret });
  expect(hidden.server.transport).toMatchObject({ args: ["serve", "--region", "eu", "--mine"] });
  expect([hidden.ignored, hidden.missing]).toEqual([["args"], []]);
});

test("values that do not fit their field, and what would run something else, are left out and named", () => {
  const server = tiered(program, [
    { path: "env.PORT", type: "number" },
    { path: "env.MODE", type: "enum", enum: ["a", "b"], required: true },
    { path: "env.NODE_OPTIONS" },
  ]);
  const merged = merge(
    server,
    { "env.PORT": "x", "env.NODE_OPTIONS": "--require /tmp/x" },
    { "env.MODE": "b ${secret:KEY}", "env.UNKNOWN": "1" },
  );
  expect([...merged.ignored].sort()).toEqual(["env.MODE", "env.NODE_OPTIONS", "env.PORT", "env.UNKNOWN"]);
  expect(merged.missing).toEqual([{ path: "env.MODE", tier: "user" }]);
  expect(merged.server.transport).toEqual(server.server.transport);
});

const paths = ["env.A", "env.B", "env.C", "args.d"] as const;
const anyField = (path: string) =>
  fc.record({
    path: fc.constant(path),
    tier: fc.constantFrom(...tiers),
    locked: fc.boolean(),
    required: fc.boolean(),
    default: fc.option(fc.constant("default"), { nil: undefined }),
  });
const anyFields = fc.tuple(...paths.map(anyField));
const anyValues = (tier: string) =>
  fc.subarray([...paths]).map((some) => Object.fromEntries(some.map((path) => [path, `${tier}-${path}`])));
const anyLocks = fc.subarray([...paths]);

test("locks only ever tighten: with more of them nobody may give more, and what is locked is as it was without members", () => {
  fc.assert(
    fc.property(
      anyFields,
      anyLocks,
      anyLocks,
      anyValues("team"),
      anyValues("user"),
      (fields, some, more, team, user) => {
        const loose = tiered(program, fields, some);
        const tight = { ...loose, locks: [...some, ...more] };
        for (const tier of ["team", "user"] as const)
          for (const path of paths) if (mayGive(tight, tier, path)) expect(mayGive(loose, tier, path)).toBe(true);
        const text = JSON.stringify(merge(tight, team, user).server.transport);
        for (const path of tight.locks) expect(text).not.toContain(`user-${path}`);
        for (const { path, locked, tier } of fields) {
          if (locked || tier === "template")
            expect(text).not.toMatch(new RegExp(`(team|user)-${path.replace(".", "\\.")}`));
          if (tier === "team") expect(text).not.toContain(`user-${path}`);
        }
      },
    ),
  );
});

test("every value comes from the last tier that may give it, whatever else is set", () => {
  fc.assert(
    fc.property(anyFields, anyLocks, anyValues("team"), anyValues("user"), (fields, locks, team, user) => {
      const server = tiered(program, fields, locks);
      const merged = merge(server, team, user);
      const { env, args } = merged.server.transport as StdioTransport;
      for (const field of fields) {
        const { path } = field;
        const given = [
          mayGive(server, "user", path) ? user[path] : undefined,
          mayGive(server, "team", path) ? team[path] : undefined,
          field.default,
        ];
        const expected = given.find((value) => value !== undefined);
        if (path.startsWith("env.")) expect(env[path.slice(4)]).toBe(expected);
        else expect(args).toEqual(expected === undefined ? ["serve"] : ["serve", expected]);
      }
      expect(merged.ignored.every((path) => path in team || path in user)).toBe(true);
      expect(mergeTiers(server, { team, user, secret: () => undefined })).toEqual(merged);
    }),
  );
});

test("fields that cannot be meant are refused, with the field's name", () => {
  for (const [fields, why] of [
    [[{ path: "cwd" }], "expected env.NAME"],
    [[{ path: "headers.X" }], "only a server with an address"],
    [[{ path: "env.A" }, { path: "env.A" }], "two fields"],
    [[{ path: "env.A", type: "secret", default: "x" }], "everybody could read"],
    [[{ path: "env.A", type: "number", default: "x" }], "expected a number"],
    [[{ path: "env.A", enum: ["a"] }], "type enum"],
    [[{ path: "env.A", lokced: true }], "lokced"],
    [[{ path: "args", required: true }], "optional texts"],
    ["none", "expected Array"],
  ] as const)
    expect(() => parseTierFields(fields, "stdio")).toThrow(
      expect.objectContaining({
        code: "VALUE_REFUSED",
        message: expect.stringMatching(new RegExp(why, "i")) as string,
      }) as Error,
    );
});

test("a server.json becomes a template: required secrets and values are the team's, the rest each person's", () => {
  const json = parseServerJson({
    name: "io.example/mail",
    packages: [
      {
        registryType: "npm",
        identifier: "mail-mcp",
        version: "1.2.3",
        environmentVariables: [
          { name: "API_KEY", isRequired: true, isSecret: true },
          { name: "REGION", isRequired: true, choices: ["eu", "us"], default: "eu" },
          { name: "COLOUR" },
          { name: "AUTH", value: "Bearer {token}", variables: { token: { isSecret: true } } },
        ],
        packageArguments: [
          { type: "positional", value: "start" },
          { type: "named", name: "--root", description: "where to look" },
          { type: "positional", value: "end" },
        ],
      },
    ],
  });
  const { entry, fields } = toRegistryTemplate(json, undefined);
  expect(entry).toEqual({
    command: "npx",
    args: ["-y", "mail-mcp@1.2.3", "start"],
    env: { AUTH: "Bearer ${secret:MAIL_TOKEN}" },
  });
  expect(fields).toMatchObject([
    { path: "env.API_KEY", tier: "team", type: "secret", required: true },
    { path: "env.REGION", tier: "team", type: "enum", enum: ["eu", "us"], default: "eu" },
    { path: "env.COLOUR", tier: "user", type: "string", required: false },
    { path: "args.1-root", tier: "user", flag: "--root", description: "where to look" },
    { path: "args.2-fixed", tier: "template", locked: true, default: "end" },
  ]);
  const merged = merge(tiered(entry, fields), { "env.API_KEY": "k" }, { "args.1-root": "/srv" });
  expect(merged.server.transport).toMatchObject({ args: ["-y", "mail-mcp@1.2.3", "start", "--root", "/srv", "end"] });
  expect(merged.missing).toEqual([{ path: "secret:MAIL_TOKEN", tier: "team" }]);
});

test("arguments and variables of a template mean what its tiers give; a member's text names neither", () => {
  const entry = {
    command: "/usr/bin/mail-server",
    args: ["--header", "Authorization:${AUTH}", "${secret:KEY}", "--as=${NAME}", "--in=${REGION:-eu}"],
    env: { AUTH: "Bearer ${TOKEN}", TOKEN: "${secret:KEY}" },
  };
  const server = tiered(entry, [{ path: "env.TOKEN" }, { path: "env.NAME", tier: "team" }, { path: "env.REGION" }]);
  const byTeam = merge(server, { "env.NAME": "${secret:KEY}" });
  expect(byTeam).toMatchObject({ missing: [], ignored: [] });
  expect(byTeam.server.transport).toMatchObject({
    args: ["--header", "Authorization:Bearer k€y &=", "k€y &=", "--as=k€y &=", "--in=eu"],
    env: { AUTH: "Bearer k€y &=", TOKEN: "k€y &=", NAME: "k€y &=" },
  });
  const text = "${secret:KEY}${AUTH}";
  const own = merge(server, { "env.NAME": "n" }, { "env.TOKEN": text, "env.REGION": "us" });
  expect(own.server.transport).toMatchObject({
    args: ["--header", `Authorization:Bearer ${text}`, "k€y &=", "--as=n", "--in=us"],
    env: { AUTH: `Bearer ${text}`, TOKEN: text },
  });
  expect(merge(server, {}).missing).toEqual([{ path: "env.NAME", tier: "team" }]);
});

test.each(["env.__proto__", "env.constructor", "query.prototype", "headers.__PROTO__", "args.constructor"])(
  "a value cannot be called %s",
  (path) => {
    const kind = /^(?:env|args)/.test(path) ? "stdio" : "http";
    expect(() => parseTierFields([{ path }], kind)).toThrow("a value cannot have this name");
  },
);
