import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { clientServers, walk } from "../../scripts/dashboard-walk.mjs";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, settled, violations } from "./dashboard.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

describe.skipIf(!hasBrowser)("the first five minutes", () => {
  test("lead from nothing to a client that is connected, a tool that was run, and a setting that was changed and undone", async () => {
    const home = await mkdtemp(join(tmpdir(), "toolyard-home-"));
    const clientFile = join(home, ".cursor", "mcp.json");
    await mkdir(join(home, ".cursor"));
    // The project itself may be in a folder for temporary files, of which nothing is preselected.
    await symlink(root, join(home, "toolyard"));
    await writeFile(clientFile, JSON.stringify({ mcpServers: clientServers(join(home, "toolyard")) }));
    const browser = await launchBrowser();
    // A port that was given at the start, and not by the file.
    const port = await freePort();
    const gateway = await startGateway({
      config: "{}",
      args: ["--port", String(port)],
      env: { HOME: home, XDG_CONFIG_HOME: join(home, ".config") },
    });
    try {
      const { page, misdeeds } = await openDashboard(browser, gateway);
      const steps: string[] = [];
      await walk({
        ...{ page, url: gateway.url },
        async look(step) {
          await settled(page);
          expect([step, await axeProblems(page), await violations(page)]).toEqual([step, [], []]);
          steps.push(step);
        },
        async useClient() {
          const { mcpServers } = JSON.parse(await readFile(clientFile, "utf8")) as {
            readonly mcpServers: Readonly<Record<string, { readonly url?: string }>>;
          };
          const client = new Client({ name: "cursor", version: "1" });
          const url = new URL(mcpServers["toolyard"]?.url ?? "");
          await client.connect(new StreamableHTTPClientTransport(url) as never);
          expect((await client.listTools()).tools.length).toBeGreaterThan(0);
          await client.close();
        },
      });
      expect(steps).toEqual(["overview", "found", "up", "connect", "connected", "run", "search", "settings"]);
      const written = JSON.parse(await readFile(gateway.configFile, "utf8")) as { readonly mcpServers: object };
      expect(Object.keys(written.mcpServers)).toEqual(["everything", "files"]);
      expect(JSON.stringify(written)).not.toContain("12000");
      expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    } finally {
      await browser.close();
      await gateway[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    }
  });
});
