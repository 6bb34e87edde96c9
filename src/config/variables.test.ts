import { describe, expect, test } from "vitest";
import { configDirectory, loadValue, refusalOf } from "../../test/harness/config-text.ts";
import { createConfigSecrets } from "./secrets.ts";

describe("variables", () => {
  test("are filled in in every string of a server and of the settings", async () => {
    const env = { GH: "ghp_secret1", HOST: "example.org", PRIO: "high" };
    const config = await loadValue(
      {
        mcpServers: {
          a: {
            command: "${CMD:-npx}",
            args: ["--to=${env:HOST}"],
            env: { TOKEN: "${GH}" },
            priority: "${PRIO}",
          },
          b: { url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${GH}" } },
        },
        toolyard: { allowedHosts: ["${HOST}"] },
      },
      { env },
    );
    expect(config.servers[0]).toMatchObject({
      priority: "high",
      transport: { command: "npx", args: ["--to=example.org"], env: { TOKEN: "ghp_secret1" } },
    });
    expect(config.servers[1]?.transport).toMatchObject({
      url: "https://example.org/mcp",
      headers: { Authorization: "Bearer ghp_secret1" },
    });
    expect(config.settings.allowedHosts).toEqual(["example.org"]);
  });

  test("FAULT 88: a missing variable disables that server alone, with a reason that names it, never a value", async () => {
    const entries = {
      a: { command: "x", env: { A: "${PRESENT}", B: "${GONE}" } },
      b: { url: "${GONE}/mcp", headers: { C: "${ALSO_GONE}" } },
      c: { command: "x", env: { T: "${input:token}" } },
      d: { command: "x" },
    };
    const config = await loadValue({ mcpServers: entries }, { env: { PRESENT: "canary-4711" } });
    expect(config.servers.map((server) => server.disabledReason)).toEqual([
      "the variable GONE is not set",
      "the variables GONE, ALSO_GONE are not set",
      'it asks for the input "token", and there is no one to ask here: set TOOLYARD_INPUT_TOKEN',
      undefined,
    ]);
    expect(config.warnings[0]).toBe(
      `${configDirectory}/toolyard.json:1:20: server "a" is disabled: the variable GONE is not set`,
    );
    expect(config.warnings.join()).not.toContain("canary-4711");
  });

  test("FAULT 88: in the settings a missing variable is an error with its place", async () => {
    expect(
      await refusalOf(
        '{ "toolyard": { "search": { "embeddings": { "url": "http://e", "model": "m", "apiKey": "${KEY}" } } } }',
      ),
    ).toBe("toolyard.json:1:88: toolyard.search.embeddings.apiKey: the variable KEY is not set");
  });

  test("a value that does not fit where it goes disables the server and does not refuse the file", async () => {
    const entries = {
      a: { url: "${BASE}/mcp" },
      b: { url: "http://b", headers: { X: "${WITH_BREAK}" } },
      c: { command: "x" },
    };
    const config = await loadValue(
      { mcpServers: entries },
      { env: { BASE: "canary-4711", WITH_BREAK: "canary\n4711" } },
    );
    expect(config.servers.map(({ disabledReason }) => disabledReason === undefined)).toEqual([false, false, true]);
    expect(config.warnings.join()).not.toContain("4711");
  });

  test("the secrets of a configuration are substituted values, env, headers, apiKey, URL credentials and people's values, but nothing short", async () => {
    const config = await loadValue(
      {
        mcpServers: {
          a: {
            command: "x",
            args: ["--key", "${ARG_KEY}", "${HOME}"],
            env: { T: "env-secret", D: "1" },
          },
          b: {
            url: "https://u:pass-word@h/?api_key=query-secret&page=second",
            headers: { Authorization: "Bearer head-secret" },
          },
        },
        toolyard: {
          search: {
            engine: "lexical",
            embeddings: { url: "http://e", model: "model-name", apiKey: "api-secret" },
          },
          principals: { alice: { servers: { a: { env: { T: "${ALICE}" } } } } },
        },
      },
      { env: { ARG_KEY: "arg-secret", ALICE: "alice-secret", HOME: "/home/alice" } },
    );
    const secrets = createConfigSecrets(() => config)();
    for (const secret of [
      "arg-secret",
      "env-secret",
      "pass-word",
      "query-secret",
      "Bearer head-secret",
      "head-secret",
      "api-secret",
      "alice-secret",
    ]) {
      expect(secrets).toContain(secret);
    }
    for (const plain of ["1", "/home/alice", "second", "model-name"]) expect(secrets).not.toContain(plain);
  });

  test("secretsOf leaves out plain words and numbers of an environment, but not where the name speaks of a secret", async () => {
    const env = {
      ...{ PORT: "starting", REGION: "online", LIMIT: "300000", STAGE: "PRODUCTION", OTHER: "Restarting" },
      ...{ DB_PASSWORD: "dragonfly", PIN: "20111978", APP: "abcdefghijklmnop", MIXED: "xKjQabZw", DATE: "2011-19" },
      FILLED: "${WORD}",
    };
    const config = await loadValue(
      {
        mcpServers: { a: { command: "x", env }, b: { url: "http://b", headers: { "X-Team": "payments" } } },
        toolyard: { teams: { t: { servers: { a: { env: { PORT: "stopped", TEAM_TOKEN: "butterfly" } } } } } },
      },
      { env: { WORD: "connecting" } },
    );
    expect(createConfigSecrets(() => config)()).toEqual(
      new Set([
        ...["connecting", "dragonfly", "20111978", "abcdefghijklmnop", "xKjQabZw", "2011-19"],
        ...["payments", "butterfly"],
      ]),
    );
  });

  test("the secrets of a configuration are each line of a value that has several, and no name that nobody filled in", async () => {
    const pem = "-----BEGIN KEY-----\r\nMIIEvQIBADANBgkqh\r\n  kiG9w0BAQEFAASC\r\nQ==\r\n-----END KEY-----\r\n";
    const env = { PEM: pem, TOKEN: "${input:tok}", OTHER: "${env:GONE_TOO}" };
    const config = await loadValue({ mcpServers: { a: { command: "x", env } } });
    expect(createConfigSecrets(() => config)()).toEqual(new Set([pem, "MIIEvQIBADANBgkqh", "kiG9w0BAQEFAASC"]));
  });
});
