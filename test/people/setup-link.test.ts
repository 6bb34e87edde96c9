import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addressOn, runOnTerminal } from "../harness/terminal.ts";
import { until } from "../harness/until.ts";
import { createPageBrowser } from "./page-browser.ts";

test("a gateway without an admin shows its terminal the link that makes one, and nobody else", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-setup-"));
  try {
    const data = join(directory, "data");
    const config = join(directory, "toolyard.json");
    await writeFile(config, "{}");
    const args = ["serve", "--team", "--port", "0", "--config", config, "--data-dir", data];
    await using terminal = runOnTerminal({ args });
    const url = await addressOn(terminal);
    const link = await until(() => /Set up\s+(http\S+\/setup#([\w-]{43}))/.exec(terminal.text()) ?? undefined);
    expect(link[1]?.startsWith(`${url}/setup#`)).toBe(true);
    const browser = createPageBrowser();
    const about = { code: link[1] ?? "", name: "ann", team: "red", password: "correct horse", again: "correct horse" };
    const done = await browser.submit(await browser.open(`${url}/setup`), about);
    expect(done.text).toContain("You are <strong>ann</strong>, an admin");
    const files = await readdir(directory, { recursive: true, withFileTypes: true });
    for (const file of files.filter((one) => one.isFile()))
      expect((await readFile(join(file.parentPath, file.name))).includes(link[2] ?? "-")).toBe(false);
    await terminal.interrupt();
    // Once there is somebody, there is nothing to set up.
    await using again = runOnTerminal({ args });
    await addressOn(again);
    await until(() => again.text().includes("Dashboard"));
    expect(again.text()).not.toContain("/setup#");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
