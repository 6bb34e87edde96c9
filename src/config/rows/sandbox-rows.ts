import * as v from "valibot";
import { filledText, numberOf } from "../file/check.ts";
import type { Document } from "../file/document.ts";
import { choice, other } from "./setting-row.ts";

/** What an entry says of its sandbox, as it is written. */
export interface WrittenSandbox {
  readonly read?: readonly string[] | undefined;
  readonly write?: readonly string[] | undefined;
  readonly network?: "host" | readonly string[] | undefined;
  readonly memoryMb?: number | undefined;
  readonly processes?: number | undefined;
  readonly tmpMb?: number | undefined;
  readonly browser?: boolean | undefined;
  readonly engine?: SandboxEngine | undefined;
  readonly image?: string | undefined;
}

const engines = ["auto", "bubblewrap", "docker", "podman", "seatbelt"] as const;

/** A program that confines. */
export type SandboxEngine = (typeof engines)[number];

/** Names of one entry. Each is compared with every name that the server asks for. */
const mostNames = 200;
const mostFolders = 100;
const ranges = {
  memoryMb: { min: 64, max: 1_048_576 },
  processes: { min: 4, max: 100_000 },
  tmpMb: { min: 1, max: 1_048_576 },
} as const;

/** A host name whose last label is no number, so that it is no address; with `*.` all below it. */
const name = String.raw`(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?=[a-z0-9-]*[a-z-])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?`;
const namePattern = new RegExp(String.raw`^(?:\*|${name})(?::(?!0)\d{1,5})?$`, "i");
const networkName = v.pipe(
  v.string(),
  v.maxLength(260),
  v.regex(namePattern, 'expected a host name such as "api.example.com", "*.example.com", "*" or "db.internal:5432"'),
  v.check((text) => Number(/:(\d+)$/.exec(text)?.[1] ?? 1) <= 65_535, "expected a port up to 65,535"),
);
const networkExpected = 'expected "host" or a list of host names';
const folders = v.pipe(v.array(filledText), v.maxLength(mostFolders, `expected at most ${mostFolders} paths`));

/** No word of a command line can be taken for an option, and no name has a space. */
const imageName = v.pipe(
  v.string(),
  v.maxLength(500),
  v.regex(/^[a-z0-9][\w./:@-]*$/, 'expected the name of an image, such as "node:22-slim"'),
);

const fields = v.strictObject({
  read: v.optional(folders),
  write: v.optional(folders),
  network: v.optional(
    v.lazy((given) =>
      Array.isArray(given)
        ? v.pipe(v.array(networkName), v.maxLength(mostNames, `expected at most ${mostNames} names`))
        : v.literal("host", networkExpected),
    ),
  ),
  memoryMb: v.optional(numberOf(ranges.memoryMb)),
  processes: v.optional(numberOf(ranges.processes)),
  tmpMb: v.optional(numberOf(ranges.tmpMb)),
  browser: v.optional(v.boolean()),
  engine: v.optional(v.picklist(engines, `expected one of ${engines.join(", ")}`)),
  image: v.optional(imageName),
});

const isFields = (value: unknown): boolean => typeof value === "object" && value !== null;
const schema = v.lazy((value) =>
  isFields(value) ? fields : v.boolean("expected true, false, or an object"),
) as v.GenericSchema<unknown, boolean | WrittenSandbox>;

const whole = ({ min, max }: { readonly min: number; readonly max: number }) => ({
  type: "integer",
  minimum: min,
  maximum: max,
});
const paths = { type: "array", items: { type: "string", minLength: 1 }, maxItems: mostFolders };

/** `sandbox` of an entry. */
export const sandboxRow = other<boolean | WrittenSandbox, undefined>({
  fallback: undefined,
  fallbackText: "as `sandbox.mode` says",
  schema,
  json: {
    anyOf: [
      { type: "boolean" },
      {
        type: "object",
        properties: {
          read: paths,
          write: paths,
          network: {
            anyOf: [{ const: "host" }, { type: "array", items: { type: "string" }, maxItems: mostNames }],
          },
          memoryMb: whole(ranges.memoryMb),
          processes: whole(ranges.processes),
          tmpMb: whole(ranges.tmpMb),
          browser: { type: "boolean" },
          engine: { enum: engines },
          image: { type: "string", minLength: 1 },
        },
        additionalProperties: false,
      },
    ],
  },
  type:
    "true, false, or object with `read`, `write` (lists of paths), `network` (list of host names, or `host`), " +
    "`memoryMb`, `processes`, `tmpMb` (whole numbers), `browser`, `engine`, `image`",
  about: "whether the process is confined, and what it may reach; see [sandbox](sandbox.md)",
  reason: "what a server needs is known to the person who adds it",
  example: { read: ["~/notes"], network: ["api.example.com"] },
});

export const sandboxModes = ["off", "auto", "require"] as const;

/** `toolyard.sandbox`. */
export const sandboxRows = {
  mode: choice({
    choices: sandboxModes,
    fallback: "off",
    about:
      "processes whose entry does not say `sandbox`: `off` does not confine them, `auto` does where this machine can, " +
      "`require` starts none without",
    reason: "servers that were started before need what they could reach before",
  }),
  engine: choice({
    choices: engines,
    fallback: "auto",
    about:
      "the program that confines, where an entry's `sandbox.engine` does not say another: `auto` takes the one of this " +
      "system, on Linux bubblewrap, on macOS Seatbelt; `docker` and `podman` need `sandbox.image` of the entry",
    reason: "it is small, and works without root",
  }),
};

export type SandboxMode = (typeof sandboxModes)[number];

/** What a file says of servers that say nothing of a sandbox, before it is checked as a whole. */
export function sandboxModeIn(document: Pick<Document, "value">): SandboxMode {
  const { fallback, schema } = sandboxRows.mode;
  const written = v.safeParse(schema, document.value(["toolyard", "sandbox", "mode"]));
  return written.success ? written.output : fallback;
}
