import { readFileSync } from "node:fs";
import { defaultExclude, defineConfig } from "vitest/config";
import { LongFirst } from "./test/harness/long-first.ts";

/** What the build's loader for text files does. */
const textFiles = {
  name: "text-files",
  enforce: "pre" as const,
  load: (id: string) => (id.endsWith(".txt") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : null),
};

const limits = { testTimeout: 300_000, hookTimeout: 300_000 };

/** Rooms that start processes and threads or hold sockets, and a test that looks at what its process has loaded. */
const restless = [
  "src/{cli,servers,store}/**/*.test.ts",
  "src/{front/web,wire/http}/**/*.test.ts",
  "src/engine/validation/validators.test.ts",
];
/** Tests of the running gateway that have nothing in their own process but the client. */
const clientsOnly = [
  "test/{docs,lint,namespaces,oauth,perform,rest,results}/*.test.ts",
  "test/faults/{config,content,names}/*.test.ts",
];

export default defineConfig({
  test: {
    globalSetup: ["test/harness/build.ts"],
    pool: "forks",
    // For the two cores of the smallest machine that is meant: half of what a test does is waiting for processes.
    maxWorkers: 5,
    sequence: { sequencer: LongFirst },
    projects: [
      {
        plugins: [textFiles],
        test: {
          name: "apart",
          include: [...restless, "test/**/*.test.ts", "test/**/*.test.mjs", "scripts/**/*.test.mjs"],
          exclude: [...defaultExclude, ...clientsOnly],
          ...limits,
        },
      },
      {
        // These leave nothing behind, so that they can share a process: starting one, and loading what is tested into
        // it, takes longer than most of them.
        plugins: [textFiles],
        test: {
          name: "together",
          include: ["src/**/*.test.ts", ...clientsOnly],
          exclude: [...defaultExclude, ...restless],
          isolate: false,
          ...limits,
        },
      },
    ],
  },
});
