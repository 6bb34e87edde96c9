// Writes .oxlintrc.json. Which wings and rooms may import which others is a rule of our own (house-rule.mjs).
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ownRules } from "./lint-rules.mjs";
import { sizeExceptions, sizeRules } from "./lint-exceptions.mjs";

/** Rooms in which the protocol's own packages may be imported. */
const sdkRooms = ["wire/mcp", "servers/upstream", "servers/logins"];
const sdk = {
  group: ["@modelcontextprotocol/*", "@modelcontextprotocol/*/**"],
  message: "Only wire/mcp, servers/upstream and servers/logins import the protocol's packages.",
};
const environment = "Only config and cli read the environment: take it as an argument.";

function off(rules) {
  return Object.fromEntries(Object.keys(rules).map((rule) => [rule, "off"]));
}

const config = {
  $schema: "./node_modules/oxlint/configuration_schema.json",
  plugins: ["typescript", "import", "unicorn", "promise", "node", "vitest", "oxc"],
  jsPlugins: ["./scripts/lint-rules.mjs"],
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
    [ownRules.lineLength]: "error",
    [ownRules.downwards]: "error",
    // Off, each because it is wrong for this code: objects of closures have no `this`, copies guard a loop against its
    // own changes, conditions change in callbacks, fast-check and vitest are used as their manuals show.
    "typescript/unbound-method": "off",
    // Rules of the policy say with it what becomes of a call; nothing that has it is awaited.
    "unicorn/no-thenable": "off",
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
  },
  overrides: [
    { files: ["src/**/*.ts"], rules: { "no-restricted-imports": ["error", { patterns: [sdk] }] } },
    { files: sdkRooms.map((room) => `src/${room}/**/*.ts`), rules: { "no-restricted-imports": "off" } },
    { files: ["src/**/*.ts"], rules: { "node/no-process-env": "error", ...sizeRules } },
    { files: Object.keys(sizeExceptions).map((file) => `src/${file}`), rules: off(sizeRules) },
    { files: ["src/cli/**/*.ts", "src/config/given.ts"], rules: { "node/no-process-env": "off" } },
    // Tests may look into every room.
    {
      files: ["src/**/*.test.ts", "test/**", "bench/**", "examples/**", "scripts/**", "vitest.config.ts"],
      rules: {
        "no-restricted-imports": "off",
        "node/no-process-env": "off",
        "import/no-default-export": "off",
        ...off(sizeRules),
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
process.stdout.write(`wrote .oxlintrc.json; ${environment}\n`);
