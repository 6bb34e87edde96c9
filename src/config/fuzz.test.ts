import fc from "fast-check";
import { expect, test } from "vitest";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import { buildConfig } from "./load.ts";

const valid = JSON.stringify(
  {
    mcpServers: {
      github: {
        command: "npx",
        args: ["-y", "x"],
        env: { TOKEN: "${GH:-none}" },
        tools: { allow: ["a*"], rename: { a: "b" } },
      },
      remote: {
        type: "http",
        url: "https://h/mcp",
        headers: { Authorization: "Bearer ${C7}" },
        required: { user: ["env.A"] },
      },
    },
    toolyard: {
      port: 3001,
      limits: { sessions: 5 },
      principals: { alice: { roles: ["member"], servers: { github: { env: { A: "b" } } } } },
    },
  },
  null,
  1,
);

/**
 * Whether a text gives a configuration, or an error that names a place. Nothing else may happen, whatever the text.
 */
function settles(text: string): boolean {
  try {
    const options = {
      cwd: "/",
      env: { C7: "canary" },
      flags: {},
      homeDirectories: { config: "/c", data: "/d" },
      cores: 1,
    };
    return Object.isFrozen(buildConfig({ file: "/f.json", text }, options));
  } catch (error) {
    const isOurs =
      error instanceof GatewayError && error.code === "CONFIG_INVALID" && !error.message.includes("canary");
    expect(isOurs ? "ours" : error).toBe("ours");
    return true;
  }
}

test("FAULT 87: any text, any JSON, and any damage to a valid file is a configuration or a CONFIG_INVALID", () => {
  const anyText = fc.string({ unit: "binary", maxLength: 200 });
  const anyJson = fc.json({ maxDepth: 6 });
  const shaped = fc
    .record({
      mcpServers: fc.dictionary(
        fc.string(),
        fc.object({
          key: fc.constantFrom(
            "command",
            "url",
            "args",
            "env",
            "type",
            "tools",
            "required",
            "x",
            "envFile",
            "disabledTools",
          ),
        }),
      ),
      toolyard: fc.object(),
      inputs: fc.jsonValue(),
      mcp: fc.jsonValue(),
    })
    .map((value) => JSON.stringify(value));
  const cut = fc
    .tuple(fc.nat(valid.length), fc.nat(12), fc.string({ maxLength: 3 }))
    .map(([at, length, more]) => valid.slice(0, at) + more + valid.slice(at + length));
  fc.assert(fc.property(fc.oneof(anyText, anyJson, shaped, cut), settles), { numRuns: 500 });
});
