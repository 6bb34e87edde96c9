import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** What the build's loader for text files does. */
const textFiles = {
  name: "text-files",
  enforce: "pre" as const,
  load: (id: string) => (id.endsWith(".txt") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : null),
};

export default defineConfig({
  plugins: [textFiles],
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "test/**/*.test.mjs", "scripts/**/*.test.mjs"],
    globalSetup: ["test/harness/build.ts"],
    pool: "forks",
    // One more than the cores of the smallest machine that is meant: half of what a test does is waiting for processes.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
