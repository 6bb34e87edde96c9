import { describe, expect, test } from "vitest";
import { loadValue } from "../../../test/harness/config-text.ts";

const hash = (digit: string) => `sha256:${digit.repeat(64)}`;

describe("people", () => {
  const file = {
    mcpServers: {
      github: { command: "npx", args: ["-y", "server-github"], env: { TOKEN: "shared" } },
    },
    toolyard: {
      teams: { acme: { servers: { github: { env: { ORG: "acme" } } } } },
      principals: {
        alice: {
          team: "acme",
          tokenHash: hash("A"),
          roles: ["admin"],
          servers: { github: { env: { TOKEN: "${ALICE_GH}" } } },
        },
        bob: { tokenHashes: [hash("b"), hash("c")] },
      },
    },
  };

  test("teams and principals are read; with people a server is each one's own unless it says otherwise", async () => {
    const config = await loadValue(file, { env: { ALICE_GH: "alice-token" } });
    expect(config.people.principals.get("alice")).toMatchObject({
      id: "alice",
      team: "acme",
      tokenHashes: [hash("a")],
      roles: ["admin"],
    });
    expect(config.people.principals.get("alice")?.servers.get("github")).toEqual({
      env: { TOKEN: "alice-token" },
    });
    expect(config.people.principals.get("bob")).toMatchObject({
      team: null,
      tokenHashes: [hash("b"), hash("c")],
      roles: ["member"],
    });
    expect(config.people.teams.get("acme")?.get("github")).toEqual({ env: { ORG: "acme" } });
    expect(config.servers[0]?.scope).toBe("user");
    expect(config.settings.limits.callsPerSecond).toBe(200);
  });

  test("FAULT 88: a variable that one person lacks is that person's missing value, and a warning", async () => {
    const config = await loadValue(file);
    expect(config.people.principals.get("alice")?.servers.get("github")).toEqual({
      env: {},
      missing: ["env.TOKEN"],
    });
    expect(config.servers[0]?.disabledReason).toBeUndefined();
    expect(config.warnings).toEqual([
      expect.stringContaining("toolyard.principals.alice.servers.github.env.TOKEN: the variable ALICE_GH is not set"),
    ]);
  });

  test("FAULT 91: overrides that a member may not set, unknown teams and unknown servers are warnings", async () => {
    const principals = {
      eve: {
        team: "none",
        servers: { github: { env: { LD_PRELOAD: "/tmp/x.so" }, args: ["-c", "id"] }, nothing: {} },
      },
    };
    const { warnings } = await loadValue({ ...file, toolyard: { principals } });
    const texts = warnings.map((warning) => warning.slice(warning.indexOf(": ") + 2));
    expect(texts).toEqual([
      "toolyard.principals.eve.team: no such team under toolyard.teams",
      "toolyard.principals.eve.servers.github.env: env.LD_PRELOAD may not be overridden, ignored",
      "toolyard.principals.eve.servers.github.args: args may not be overridden, ignored",
      "toolyard.principals.eve.servers.nothing: no such server, ignored",
    ]);
  });

  test("one token means one principal, and nobody is called `local`", async () => {
    const two = {
      toolyard: { principals: { a: { tokenHash: hash("1") }, b: { tokenHash: hash("1") } } },
    };
    await expect(loadValue(two)).rejects.toThrow("toolyard.principals.b: its token is also that of a");
    await expect(loadValue({ toolyard: { principals: { local: {} } } })).rejects.toThrow('"local" is not free');
  });
});
