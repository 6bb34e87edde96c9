import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { configDirectory, loadText, loadValue } from "../../../test/harness/config-text.ts";

describe("flags, variables, file, defaults", () => {
  const file = {
    toolyard: {
      host: "file-host",
      port: 1,
      exposure: "flat",
      dataDir: "data",
      logLevel: "warn",
      auth: { insecure: false },
      debugRoute: false,
    },
  };
  const env = {
    TOOLYARD_HOST: "env-host",
    TOOLYARD_PORT: "2",
    TOOLYARD_EXPOSURE: "namespaces",
    TOOLYARD_DATA_DIR: "env-data",
    TOOLYARD_LOG_LEVEL: "error",
    TOOLYARD_INSECURE: "true",
    TOOLYARD_DEBUG_ROUTE: "1",
  };
  const flags = {
    host: "flag-host",
    port: "3",
    exposure: "meta",
    "data-dir": "flag-data",
    "log-level": "debug",
    insecure: false,
  };

  test("each is stronger than the next", async () => {
    expect((await loadValue(file)).settings).toMatchObject({
      host: "file-host",
      port: 1,
      exposure: "flat",
      dataDir: join(configDirectory, "data"),
      logLevel: "warn",
      auth: { insecure: false },
      debugRoute: false,
    });
    expect((await loadValue(file, { env })).settings).toMatchObject({
      host: "env-host",
      port: 2,
      exposure: "namespaces",
      dataDir: join(configDirectory, "env-data"),
      logLevel: "error",
      auth: { insecure: true },
      debugRoute: true,
    });
    expect((await loadValue(file, { env, flags })).settings).toMatchObject({
      host: "flag-host",
      port: 3,
      exposure: "meta",
      dataDir: join(configDirectory, "flag-data"),
      logLevel: "debug",
      auth: { insecure: false },
    });
  });

  test.each([
    [{ flags: { port: "http" } }, "--port: expected a whole number from 0 to 65535"],
    [{ env: { TOOLYARD_PORT: "-1" } }, "TOOLYARD_PORT: expected a whole number from 0 to 65535"],
    [{ flags: { exposure: "all" } }, "--exposure: expected one of meta, flat, namespaces, server"],
    [{ flags: { host: " " } }, "--host: expected a value that is not empty"],
    [{ env: { TOOLYARD_INSECURE: "maybe" } }, 'TOOLYARD_INSECURE: expected "true" or "false"'],
    [
      { env: { TOOLYARD_LOG_LEVEL: "loud" } },
      "TOOLYARD_LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent",
    ],
  ])("%j is refused", async (options, message) => {
    await expect(loadValue({}, options)).rejects.toMatchObject({ code: "CONFIG_INVALID", message });
  });

  test("an address may have the brackets that it has in a URL", async () => {
    expect((await loadValue({}, { flags: { host: "[::1]" } })).settings.host).toBe("::1");
  });

  test("allowed hosts and origins become what headers say, however they were copied", async () => {
    const { settings } = await loadValue({
      toolyard: {
        allowedHosts: [
          "myhost.local:3059",
          "Tools.Example.com",
          "[FD00::1]:80",
          "fd00::2",
          "b\u00fccher.de",
          "a_b",
          "*",
        ],
        allowedOrigins: [
          "https://App.example.com:443/",
          "http://b\u00fccher.de:80",
          "chrome-extension://Abc/",
          "null",
          "*",
        ],
      },
    });
    expect(settings.allowedHosts).toEqual([
      "myhost.local",
      "tools.example.com",
      "[fd00::1]",
      "[fd00::2]",
      "xn--bcher-kva.de",
      "a_b",
      "*",
    ]);
    expect(settings.allowedOrigins).toEqual([
      "https://app.example.com",
      "http://xn--bcher-kva.de",
      "chrome-extension://abc",
      "null",
      "*",
    ]);
  });

  test.each([
    ["allowedHosts", "http://myhost.local:3059/"],
    ["allowedHosts", "*.example.com"],
    ["allowedHosts", "a b"],
    ["allowedHosts", ""],
    ["allowedOrigins", "app2.local"],
    ["allowedOrigins", "app2.local:80"],
    ["allowedOrigins", "https://app.example.com/path"],
    ["allowedOrigins", "https://user@app.example.com"],
    ["allowedOrigins", "http://a:99999"],
  ])("%s: %j can match no request, and is refused with its place", async (name, written) => {
    await expect(loadText(`{ "toolyard": {\n"${name}": ["*", "${written}"] } }`)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(new RegExp(`toolyard.json:2:\\d+: toolyard\\.${name}\\[1\\]: expected`)) as string,
    });
  });

  test.each([
    ["https://Tools.Example.com:443/", "https://tools.example.com"],
    ["http://b\u00fccher.de:8080/yard/", "http://xn--bcher-kva.de:8080/yard"],
    ["https://[::1]/a/b", "https://[::1]/a/b"],
  ])("publicUrl %s becomes %s, from file, flag and variable", async (written, expected) => {
    for (const loaded of [
      loadValue({ toolyard: { publicUrl: written } }),
      loadValue({ toolyard: { publicUrl: "http://other" } }, { env: { TOOLYARD_PUBLIC_URL: written } }),
      loadValue({}, { flags: { "public-url": written }, env: { TOOLYARD_PUBLIC_URL: "http://other" } }),
    ])
      expect((await loaded).settings.publicUrl).toBe(expected);
  });

  test.each([
    ...[
      "tools.example.com",
      "ftp://h",
      "https://",
      "https://h/?a",
      "https://h/#a",
      "https://u@h",
      "https://h/a b",
      "",
    ].map((written) => ["publicUrl", written, written] as const),
    ...["proxy", "10.0.0.0/33", "::1/129", "10.0.0.0/8/8", "10.0.0.0/", "fe80::1%eth0"].map(
      (written) => ["trustedProxies", [written], written] as const,
    ),
  ])("%s: %j is refused with its place", async (name, value, written) => {
    await expect(loadText(`{ "toolyard": {\n"${name}": ${JSON.stringify(value)} } }`)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(new RegExp(`toolyard.json:2:\\d+: toolyard\\.${name}`)) as string,
    });
    if (name === "publicUrl" && written !== "")
      await expect(loadValue({}, { env: { TOOLYARD_PUBLIC_URL: written } })).rejects.toMatchObject({
        message: expect.stringContaining("TOOLYARD_PUBLIC_URL: expected an absolute URL") as string,
      });
  });

  test("namespaces: our own block before `namespaceSupport` and `performance`, variables before all", async () => {
    const theirs = {
      namespaceSupport: {
        enabled: true,
        legacySupport: false,
        deprecationWarnings: false,
        autoMigration: true,
      },
      performance: { maxNamespaces: 5, cacheTimeout: 60, preloadNamespaces: ["a"] },
    };
    const expected = {
      enabled: true,
      legacySupport: false,
      deprecationWarnings: false,
      autoMigration: true,
      maxLoaded: 5,
      cacheTtlMs: 60_000,
      preload: ["a"],
    };
    expect((await loadValue(theirs)).settings.namespaces).toMatchObject(expected);
    expect((await loadValue({ toolyard: theirs })).settings.namespaces).toMatchObject(expected);
    const own = { toolyard: { ...theirs, namespaces: { maxLoaded: 7, legacySupport: true } } };
    expect((await loadValue(own)).settings.namespaces).toMatchObject({
      maxLoaded: 7,
      legacySupport: true,
      autoMigration: true,
    });
    const variables = {
      TOOLYARD_MAX_NAMESPACES: "9",
      TOOLYARD_CACHE_TIMEOUT: "30",
      TOOLYARD_PRELOAD_NAMESPACES: "x, y,",
      TOOLYARD_ENABLE_PARALLEL_LOADING: "false",
    };
    expect((await loadValue(own, { env: variables })).settings.namespaces).toMatchObject({
      maxLoaded: 9,
      cacheTtlMs: 30_000,
      preload: ["x", "y"],
      parallelLoading: false,
    });
  });

  test("`transparent` makes the exposure that server; a flag is stronger; without a name one server alone is meant", async () => {
    const servers = { mcpServers: { "My Server": { command: "x" }, b: { command: "y" } } };
    const transparent = { ...servers, toolyard: { transparent: "My Server" } };
    expect((await loadValue(transparent)).settings).toMatchObject({
      exposure: "server",
      transparent: "My-Server",
    });
    expect((await loadValue(transparent, { flags: { exposure: "flat" } })).settings).toMatchObject({
      exposure: "flat",
      transparent: undefined,
    });
    await expect(loadValue(servers, { flags: { exposure: "server" } })).rejects.toThrow("needs toolyard.transparent");
    expect(
      (await loadValue({ mcpServers: { a: { command: "x" } } }, { flags: { exposure: "server" } })).settings
        .transparent,
    ).toBe("a");
  });
});
