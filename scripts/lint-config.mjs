// Writes .oxlintrc.json: the rules, and for each room which rooms it may not import (DESIGN: rooms import downwards only).
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** From the top of the house to its cellar. A room may import the rooms below it, `events` and `shared`. */
const rooms = [
  "cli",
  "app",
  "front",
  "identity",
  "exposure",
  "discovery",
  "routing",
  "instance",
  "upstream",
  "protocol",
  "policy",
  "catalog",
  "config",
  "store",
  "events",
  "shared",
];
/** Rooms in which the protocol's own packages may be imported. */
const sdkFiles = ["src/front/mcp/**", "src/upstream/**", "src/protocol/**", "src/identity/oauth/**"];
const sdk = {
  group: ["@modelcontextprotocol/*", "@modelcontextprotocol/*/**"],
  message: "Only front/mcp, upstream, protocol and the OAuth client import the SDK.",
};
const environment = "Only config and cli read the environment: take it as an argument.";

function above(room) {
  const place = rooms.indexOf(room);
  const higher = rooms.slice(0, place);
  // What happens is recorded by everybody, so events lies beside the house: it imports nothing but shared.
  const barred =
    room === "events"
      ? rooms.filter((name) => name !== "events" && name !== "shared")
      : room === "store"
        ? rooms.filter((name) => !["store", "events", "shared", "catalog"].includes(name))
        : higher;
  return barred.map((name) => ({
    group: [`**/../${name}/**`, `../${name}/**`, `../../${name}/**`, `../../../${name}/**`],
    message: `${room} lies below ${name}: rooms import downwards only.`,
  }));
}

const config = {
  $schema: "./node_modules/oxlint/configuration_schema.json",
  plugins: ["typescript", "import", "unicorn", "promise", "node", "vitest", "oxc"],
  categories: { correctness: "error", suspicious: "error" },
  options: { typeAware: true },
  ignorePatterns: ["dist", "node_modules", ".cache", "docs", "**/*.bundle.mjs"],
  rules: {
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": ["error", { checksVoidReturn: false }],
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "no-console": "error",
    // Off, each because it is wrong for this code: objects of closures have no `this`, copies guard a loop against its own changes,
    // conditions change in callbacks, fast-check and vitest are used as their manuals show.
    "typescript/unbound-method": "off",
    "unicorn/no-useless-spread": "off",
    "unicorn/no-new-array": "off",
    "no-unmodified-loop-condition": "off",
    "import/no-named-as-default-member": "off",
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
    "vitest/require-to-throw-message": "off",
    "promise/no-callback-in-promise": "off",
    "unicorn/require-post-message-target-origin": "off",
    "promise/no-promise-in-callback": "off",
    "oxc/no-async-endpoint-handlers": "off",
    "typescript/no-unnecessary-type-assertion": "off",
    "typescript/no-unnecessary-type-conversion": "off",
    "import/no-unassigned-import": "off",
    "typescript/consistent-return": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "no-await-in-loop": "off",
    "no-shadow": "off",
    "no-underscore-dangle": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "unicorn/no-array-reverse": "off",
    "promise/always-return": "off",
    "promise/no-multiple-resolved": "off",
    "vitest/require-mock-type-parameters": "off",
    "vitest/expect-expect": "off",
    "vitest/no-conditional-expect": "off",
    "vitest/no-standalone-expect": "off",
    "vitest/valid-title": "off",
    "typescript/no-unnecessary-type-parameters": "off",
    "max-lines": ["error", { max: 460, skipBlankLines: true, skipComments: true }],
  },
  overrides: [
    ...rooms.map((room) => ({
      files: [`src/${room}/**/*.ts`],
      rules: {
        "no-restricted-imports": [
          "error",
          { patterns: [...above(room), ...(sdkFiles.some((files) => files.startsWith(`src/${room}/`)) ? [] : [sdk])] },
        ],
      },
    })),
    ...sdkFiles.map((files) => ({
      files: [files],
      rules: { "no-restricted-imports": ["error", { patterns: above(files.split("/")[1]) }] },
    })),
    { files: ["src/**/*.ts"], rules: { "node/no-process-env": "error" } },
    { files: ["src/cli/**/*.ts"], rules: { "node/no-process-env": "off" } },
    // Tests may look into every room.
    {
      files: ["src/**/*.test.ts", "test/**", "bench/**", "scripts/**", "vitest.config.ts"],
      rules: {
        "no-restricted-imports": "off",
        "node/no-process-env": "off",
        "import/no-default-export": "off",
        "max-lines": "off",
        "no-console": "off",
        "typescript/no-explicit-any": "off",
      },
    },
  ],
};

writeFileSync(
  fileURLToPath(new URL("../.oxlintrc.json", import.meta.url)),
  `${JSON.stringify(config, undefined, 2)}\n`,
);
process.stdout.write(`wrote .oxlintrc.json for ${rooms.length} rooms; ${environment}\n`);
