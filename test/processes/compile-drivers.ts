import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Compiles the drivers and what they need, because Node 20 runs no TypeScript. `driver` finds one of them in the
 * folder.
 */
export function compileDrivers(): {
  readonly folder: string;
  readonly driver: (name: string) => string;
} {
  const repository = fileURLToPath(new URL("../../", import.meta.url));
  const folder = mkdtempSync(path.join(tmpdir(), "toolyard-driver-"));
  chmodSync(folder, 0o755);
  mkdirSync(path.join(folder, "out"));
  symlinkSync(path.join(repository, "node_modules"), path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const compilerOptions = {
    noEmit: false,
    outDir: "out",
    rootDir: repository,
    typeRoots: [path.join(repository, "node_modules/@types")],
  };
  // The guardian for systems without a shell is started by its path, so nothing imports it.
  const files = [
    "test/processes/gateway-driver.ts",
    "test/processes/exhaust-driver.ts",
    "src/servers/process/guardian/guardian-main.ts",
  ].map((file) => path.join(repository, file));
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: path.join(repository, "tsconfig.json"),
      compilerOptions,
      files,
      include: [],
    }),
  );
  execFileSync(process.execPath, [path.join(repository, "node_modules/typescript/bin/tsc"), "-p", folder], {
    stdio: "inherit",
  });
  return { folder, driver: (name) => path.join(folder, "out", name) };
}
