import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { openInside, type Inside } from "../safety/inside.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the sandbox on the page of a server", () => {
  let browser: Browser;
  let inside: Inside;
  let web: Server;
  beforeAll(async () => {
    web = createServer((_, response) => response.end("reached"));
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    const address = "93.184.216.35";
    const hosts = { "a.example.com": address, "b.example.com": address };
    browser = await launchBrowser();
    inside = await openInside({
      sandbox: { network: ["a.example.com"] },
      env: {
        NODE_OPTIONS: `--import ${fileURLToPath(new URL("../harness/named-hosts.mjs", import.meta.url))}`,
        TOOLYARD_TEST_HOSTS: JSON.stringify(hosts),
        TOOLYARD_TEST_ROUTES: JSON.stringify({ [address]: (web.address() as AddressInfo).port }),
      },
    });
  });
  afterAll(async () => {
    await browser.close();
    await inside[Symbol.asyncDispose]();
    web.close();
  });

  test("allows a host that it was kept from, and makes a list of those that it reached", async () => {
    const fetched = (host: string) =>
      inside.run(`return await fetch("http://${host}/").then((r) => r.text(), (e) => e.cause?.code)`);
    const network = (): unknown =>
      JSON.parse(readFileSync(join(inside.directory, "toolyard.json"), "utf8")).mcpServers.inside.sandbox.network;
    expect(await fetched("b.example.com")).toBe("ENOTFOUND");
    const { context, page, misdeeds } = await openDashboard(browser, inside.gateway);
    await visit(page, inside.gateway, "/servers/inside?tab=about");
    const region = page.getByRole("region", { name: "Sandboxed" });
    await region.getByRole("button", { name: "Allow b.example.com" }).click();
    await page.getByText("inside may reach b.example.com.").waitFor();
    expect(network()).toEqual(["a.example.com", "b.example.com"]);
    await region.getByRole("button", { name: "Note the hosts that it reaches for a day" }).click();
    await region.getByText("noted until").waitFor();
    await until(async () => (await fetched("b.example.com")) === "reached");
    await page.reload();
    await region.getByRole("listitem").getByText("b.example.com", { exact: true }).waitFor();
    expect(await axeProblems(page)).toEqual([]);
    expect(await problemsOfLooks(page)).toEqual([]);
    await region.getByRole("button", { name: "Allow these alone" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Allow these alone" }).click();
    await page.getByText("It may reach the hosts of the list alone.").waitFor();
    expect(network()).toEqual(["b.example.com"]);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await context.close();
  });
});
