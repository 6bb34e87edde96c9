import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { importJWK, jwtVerify, SignJWT, type JWK } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSigningKey } from "./signing-key.ts";

const directory = mkdtempSync(join(tmpdir(), "toolyard-key-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeAll(() => {
  buildSync({
    entryPoints: [fileURLToPath(new URL("./signing-key.ts", import.meta.url))],
    outfile: join(directory, "signing-key.mjs"),
    platform: "node",
    format: "esm",
  });
  writeFileSync(
    join(directory, "program.mjs"),
    `import { createSigningKey } from "./signing-key.mjs";
     const keys = new Set();
     for (let made = 0; made < 3_000; made += 1) keys.add(createSigningKey().d);
     console.log(keys.size);`,
  );
});

test("signs, and its public half alone verifies", async () => {
  const { d, ...open } = createSigningKey() as JWK;
  expect(d).toMatch(/^[\w-]{43}$/);
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256" })
    .sign(await importJWK({ ...open, d: d ?? "" }));
  expect((await jwtVerify(token, await importJWK(open))).protectedHeader).toEqual({ alg: "ES256" });
});

// After every so many allocations, in the middle of whatever is under way.
test.each([31, 61, 89, 97, 101])("is made while the collector runs, every %i allocations", async (interval) => {
  const args = [`--gc-interval=${interval}`, join(directory, "program.mjs")];
  // One that waits for itself would be there for ever, deaf to SIGTERM.
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000, killSignal: "SIGKILL" });
  expect(stdout).toBe("3000\n");
});
