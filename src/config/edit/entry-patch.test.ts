import { describe, expect, test } from "vitest";
import { hiddenValue } from "./config-listing.ts";
import { parseDocument } from "../file/document.ts";
import { entryPatchChanges, lookAtEntry } from "./entry-patch.ts";
import { editJson } from "./json-change.ts";

const path = ["mcpServers", "mail"];
const file = `{
  "mcpServers": {
    "mail": {
      "command": "y", // kept
      "args": ["--key=s3cret-s3cret", "-v"],
      "env": { "TOKEN": "hunter2hunter2", "LEVEL": "info" }
    }
  }
}
`;
const shown = {
  command: "y",
  args: ["--key=[redacted]", "-v"],
  env: { TOKEN: hiddenValue, LEVEL: hiddenValue },
};
const at = (text: string) => ({ document: parseDocument(text, "/t.json"), path });
const patched = (patch: object, text = file): string =>
  editJson(text, entryPatchChanges(at(text), patch as Readonly<Record<string, unknown>>, shown));
const entryOf = (text: string): unknown => at(text).document.value(path);

describe("a merge patch of an entry", () => {
  test("sets, merges and takes out what it says, and leaves the rest with its comments", () => {
    const text = patched({ env: { LEVEL: null, MORE: "x" }, callTimeoutMs: 5_000, cwd: null });
    expect(entryOf(text)).toEqual({
      command: "y",
      args: ["--key=s3cret-s3cret", "-v"],
      env: { TOKEN: "hunter2hunter2", MORE: "x" },
      callTimeoutMs: 5_000,
    });
    expect(text).toContain("// kept");
    expect(patched({})).toBe(file);
    expect(patched({ command: "y" })).toBe(file);
  });

  test("means nothing by null where nothing was, as RFC 7396 says", () => {
    expect(entryOf(patched({ tools: { allow: null, rename: { a: null, b: "c" } } }))).toMatchObject({
      tools: { rename: { b: "c" } },
    });
    expect((entryOf(patched({ args: [null] })) as { args: unknown }).args).toEqual([null]);
  });

  test("leaves a secret that comes back as it was shown, also from another place in a list", () => {
    expect(patched(shown)).toBe(file);
    const moved = patched({ args: ["-v", "--key=[redacted]", "-x"] });
    expect(entryOf(moved)).toMatchObject({ args: ["-v", "--key=s3cret-s3cret", "-x"] });
  });

  test.each([
    [{ env: { TOKEN: "Bearer [redacted]" } }, "body.env.TOKEN"],
    [{ env: { OTHER: hiddenValue } }, "body.env.OTHER"],
    [{ args: ["--other=[redacted]"] }, "body.args[0]"],
    [{ headers: { Authorization: hiddenValue } }, "body.headers.Authorization"],
    [{ command: "[redacted]" }, "body.command"],
  ])("%j would write a mark in place of a secret", (patch, field) => {
    expect(() => patched(patch)).toThrow(expect.objectContaining({ code: "PARAMS_INVALID", data: { field } }));
  });

  test.each(['"text"', "[]", "null", "7"])("of an entry that is %s is refused", (entry) => {
    expect(() => patched({ command: "z" }, `{ "mcpServers": { "mail": ${entry} } }`)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("is no object") as string }),
    );
  });
});

test("an entry is wrong by what is written, not by variables that are not set", () => {
  const entry = (value: object) => lookAtEntry(at(JSON.stringify({ mcpServers: { mail: value } })));
  expect(entry({ command: "y", env: { A: "${NOT_SET}" } })).toEqual({ problems: [], warnings: [] });
  expect(entry({ command: "y", denyTools: ["x"] }).problems).toHaveLength(1);
  expect(entry({ command: 7 }).problems[0]).toContain("mcpServers.mail.command");
  expect(entry({ command: "y", role: "admin" }).warnings[0]).toContain("role");
});
