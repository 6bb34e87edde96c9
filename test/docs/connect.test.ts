import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectionsTable } from "../../scripts/docs/connections-table.mjs";
import { clientTable } from "../../src/config/clients/client-table.ts";
import { mainFile } from "../harness/gateway.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/connect.md", import.meta.url)), "utf8");

test("docs/connect.md has the table of clients", () => {
  expect(page).toContain(connectionsTable(clientTable));
});

/** The page's files make a home on Linux, in which its commands are typed one after the other. */
describe.runIf(process.platform === "linux")("docs/connect.md shows what its commands really print", () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "toolyard-page-"));
    for (const [, file = "", text = ""] of page.matchAll(/^`~\/(\S+)`\n\n```\w+\n([^]*?)```/gm)) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      writeFileSync(join(home, file), text);
    }
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const transcripts = [...page.matchAll(/```console\n\$ toolyard (.*)\n([^]*?)```/g)];

  test("there are some", () => {
    expect(transcripts.map(([, line]) => line)).toEqual([
      "connect cursor --replace --dry-run",
      "connect cursor --yes",
      "connect cursor --undo --yes",
    ]);
  });

  test.each(transcripts.map(([, line = "", output = ""]) => [line, output]))("toolyard %s", (line, output) => {
    const { stdout } = spawnSync(process.execPath, [mainFile, ...line.split(" ")], {
      cwd: join(home, "shop"),
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", HOME: home },
    });
    expect(stdout.replaceAll(home, "/home/ann")).toBe(output);
  });
});
