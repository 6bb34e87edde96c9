import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse as parseJsonc } from "jsonc-parser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));
const pages = fileURLToPath(new URL("../../docs/exposures", import.meta.url));

describe("each exposure's page", () => {
  let gateway: RunningGateway;

  beforeAll(async () => {
    const { mcpServers } = parseJsonc(await readFile(`${examples}/mcp.json`, "utf8"), [], {
      allowTrailingComma: true,
    }) as { mcpServers: Record<string, object> };
    gateway = await startGateway({
      config: {
        mcpServers: Object.fromEntries(
          Object.entries(mcpServers).map(([key, server]) => [key, { cwd: examples, ...server }]),
        ),
      },
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test.each(["meta", "flat", "namespaces", "server", "instance", "rest", "sse"])(
    "%s.md has an example that runs as it stands",
    async (name) => {
      const page = await readFile(`${pages}/${name}.md`, "utf8");
      const script = /```sh(?: run)?\n([^]*?)```/.exec(page)?.[1] ?? "";
      const { stdout } = await promisify(execFile)("sh", [
        "-euc",
        script.replaceAll("http://127.0.0.1:3001", gateway.url),
      ]);
      expect(stdout).toContain("The sum of 2 and 40 is 42.");
    },
  );
});
