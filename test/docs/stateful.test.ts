import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { statefulPage } from "../../scripts/docs/stateful-page.mjs";
import { serverTimes } from "../../src/config/rows/instance-rows.ts";
import { fileServers, statefulServers } from "../../src/config/entry/stateful-servers.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/stateful-servers.md", import.meta.url)), "utf8");

test("docs/stateful-servers.md is what scripts/write-docs.mjs makes of the table", () => {
  const { idleTimeoutMs, statefulIdleTimeoutMs } = serverTimes;
  const times = { idleTimeoutMs: idleTimeoutMs.fallback, statefulIdleTimeoutMs: statefulIdleTimeoutMs.fallback };
  expect(page).toBe(statefulPage({ groups: statefulServers, fileGroups: fileServers }, times));
});

test("it lists every package, image and program, each once per group", () => {
  for (const group of [...statefulServers, ...fileServers]) {
    const section = page.slice(page.indexOf(`### ${group.title}\n`)).split(/\n##+ /)[0] ?? "";
    const listed = [...section.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    const known = [group.npm, group.pypi, group.images, group.commands].flat();
    expect(listed, group.title).toEqual(known);
    for (const names of [group.npm, group.pypi, group.images, group.commands])
      expect(new Set(names).size, group.title).toBe(names.length);
  }
});
