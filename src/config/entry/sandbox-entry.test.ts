import { describe, expect, test } from "vitest";
import { buildConfig } from "../load.ts";

function load(entry: object, toolyard: object = {}) {
  const { servers, warnings } = buildConfig(
    {
      file: "/conf/toolyard.json",
      text: JSON.stringify({ mcpServers: { one: { command: "x", ...entry } }, toolyard }),
    },
    { cwd: "/conf", env: { HOME: "/home/me" }, flags: {}, homeDirectories: { config: "/c", data: "/d" }, cores: 2 },
  );
  const transport = servers[0]?.transport;
  return {
    sandbox: transport?.kind === "stdio" ? transport.sandbox : undefined,
    problem: servers[0]?.disabledReason,
    warnings,
    hash: servers[0]?.hash,
  };
}

describe("`sandbox` of an entry", () => {
  test("is off unless it or the settings say otherwise", () => {
    expect(load({}).sandbox).toBeUndefined();
    expect(load({ sandbox: false }).sandbox).toBeUndefined();
    expect(load({ sandbox: true }).sandbox).toMatchObject({ network: ["*"], memoryMb: 1_024, isOptional: false });
    expect(load({}, { sandbox: { mode: "auto" } }).sandbox).toMatchObject({ isOptional: true });
    expect(load({ sandbox: true }, { sandbox: { mode: "auto" } }).sandbox).toMatchObject({ isOptional: false });
    expect(load({ sandbox: false }, { sandbox: { mode: "auto" } }).sandbox).toBeUndefined();
    expect(load({ sandbox: false }, { sandbox: { mode: "require" } }).sandbox).toMatchObject({ isOptional: false });
  });

  test("has the engine of the settings unless it names one", () => {
    const settings = { sandbox: { engine: "podman" } };
    expect(load({ sandbox: { image: "node:22" } }, settings).sandbox).toMatchObject({
      engine: "podman",
      image: "node:22",
    });
    expect(load({ sandbox: { engine: "bubblewrap" } }, settings).sandbox).toMatchObject({ engine: "bubblewrap" });
  });

  test("has paths from its file and the home, and restarts the server when it changes", () => {
    const { sandbox, hash } = load({ sandbox: { read: ["~/notes"], write: ["out"] }, roots: ["/srv"] });
    expect(sandbox).toMatchObject({ read: ["/home/me/notes"], write: ["/conf/out"], roots: ["/srv"] });
    expect(hash).not.toBe(load({ roots: ["/srv"] }).hash);
  });

  test.each([
    [{ netwrok: [] }, "sandbox.netwrok: unknown field"],
    [{ network: "none" }, 'sandbox.network: expected "host"'],
    [{ network: ["10.0.0.5:5432"] }, "sandbox.network[0]: expected a host name"],
    [{ network: ["https://a.test"] }, "sandbox.network[0]: expected a host name"],
    [{ network: ["a.test:99999"] }, "sandbox.network[0]: expected a port"],
    [{ memoryMb: 1 }, "sandbox.memoryMb: expected a whole number"],
    [{ engine: "lxc" }, 'sandbox.engine: expected "auto" or "bubblewrap"'],
    [{ engine: "docker", image: "--privileged" }, "sandbox.image: expected the name of an image"],
    ["yes", "sandbox: expected a boolean"],
  ])("%j is refused with its place", (sandbox, why) => {
    expect(load({ sandbox }).problem).toContain(why);
    expect(load({ sandbox }).warnings.join()).toMatch(/toolyard\.json:1:\d+: mcpServers\.one/);
  });

  test("a misspelled one disables the entry; of a remote server it has no effect", () => {
    expect(load({ sandbx: true }).problem).toContain("did you mean `sandbox`?");
    expect(load({ command: undefined, url: "https://a.test/mcp", sandbox: true }).warnings.join()).toContain(
      "has no effect here",
    );
  });
});
