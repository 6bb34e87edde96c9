import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mainFile } from "../harness/gateway.ts";

export function readPage(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), "utf8");
}

/**
 * The files that a page of docs/ shows make a home on Linux, in which its commands are typed one after the other, in
 * the folder `shop`; they have to print what the page says. `commands` are those that the page is expected to have.
 */
export function testTranscripts(name: string, commands: readonly string[]): void {
  const page = readPage(name);
  describe.runIf(process.platform === "linux")(`docs/${name} shows what its commands really print`, () => {
    let home: string;
    beforeAll(() => {
      home = mkdtempSync(join(tmpdir(), "toolyard-page-"));
      for (const [, file = "", text = ""] of page.matchAll(/^`~\/(\S+)`\n\n```\w+\n([^]*?)```/gm)) {
        mkdirSync(dirname(join(home, file)), { recursive: true });
        writeFileSync(join(home, file), text);
      }
      mkdirSync(join(home, "shop"), { recursive: true });
    });
    afterAll(() => rmSync(home, { recursive: true, force: true }));

    const transcripts = [...page.matchAll(/```console\n\$ toolyard (.*)\n([^]*?)```/g)];

    test("there are some", () => {
      expect(transcripts.map(([, line]) => line)).toEqual(commands);
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
}
