import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { errorsPage } from "../../scripts/docs/errors-page.mjs";
import { failures } from "../../src/kernel/failures/failures.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/errors.md"), "utf8");

describe("docs/errors.md", () => {
  test("is what scripts/write-docs.mjs makes of the table", () => {
    expect(page).toBe(errorsPage(failures));
  });

  test("has one row for every failure, with its numbers and its hint", () => {
    const rows = page
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    const told = Object.fromEntries(
      rows.map(([, code = "", http, rpc, retry, , hint = ""]) => [
        code.replaceAll("`", ""),
        {
          http: Number(http),
          rpc: Number(rpc),
          retry: retry === "yes",
          hint: hint.replaceAll("&lt;", "<").replaceAll("\\|", "|"),
        },
      ]),
    );
    expect(told).toEqual(failures);
  });
});

describe("the table of failures", () => {
  test("numbers are the protocol's, or lie outside its range, and each is used once", () => {
    const rows = Object.entries(failures);
    const protocolOwn = new Set([-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]);
    for (const [code, { rpc }] of rows) expect(protocolOwn.has(rpc) || rpc > -32000 || rpc < -32768, code).toBe(true);
    expect(new Set(rows.map(([, { rpc }]) => rpc)).size).toBe(rows.length);
  });

  test("every row is thrown somewhere", () => {
    const source = sources(join(root, "src"))
      .filter((file) => !file.endsWith(".test.ts") && !file.endsWith("shared/failures.ts"))
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
    // Made into an error, or chosen as one; a comparison with it is no use of it.
    const isThrown = (code: string): boolean =>
      new RegExp(`(Error|fail|refuse|super)\\(\\s*[^)]{0,80}"${code}"|[?:] "${code}"|return "${code}"`).test(source);
    expect(Object.keys(failures).filter((code) => !isThrown(code))).toEqual([]);
  });
});

function sources(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(directory, file));
}
