import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { isRoot, openInside } from "./inside.ts";

/** `nobody`. */
const unprivileged = "65534";

// As another user than root, the tests themselves are these already.
describe.skipIf(!isRoot)("as a user without rights:", async () => {
  vi.stubEnv("TOOLYARD_TEST_USER", unprivileged);

  test("the gateway and its server have none", async () => {
    await using inside = await openInside({ sandbox: true });
    const status = readFileSync(`/proc/${inside.gateway.process.pid}/status`, "utf8");
    expect(/^Uid:\s*(.*)$/m.exec(status)?.[1]?.split("\t")).toEqual(Array(4).fill(unprivileged));
    expect(/^CapEff:\s*(.*)$/m.exec(status)?.[1]).toMatch(/^0+$/);
    expect(await inside.run("return process.getuid()")).toBe(Number(unprivileged));
  });

  await import("./sandbox.test.ts");
  await import("./sandbox-egress.test.ts");
});
