import { createHash } from "node:crypto";
import { join, sep } from "node:path";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import type { SandboxMark } from "./entry/sandbox-entry.ts";
import type { EnvFiles } from "./entry/env-file.ts";
import { canonicalJson } from "./file/hash.ts";

/** A configuration file that a command found in its working directory, and that the user did not name. */
export interface FoundConfig {
  /** As it was found: an absolute path. */
  readonly file: string;
  /** Its name in its real folder. A link elsewhere to the same file is another place: it starts programs elsewhere. */
  readonly place: string;
  readonly text: string;
  /** SHA-256 of what was read, in hexadecimal: see `hashFound`. */
  readonly hash: string;
  /** Files of variables that it names. */
  readonly envFiles: readonly string[];
  /** Names of the variables that it refers to. */
  readonly variables: readonly string[];
  /** How its servers loosen their sandboxes, by key; without those that do not. */
  readonly loosened: ReadonlyMap<string, readonly SandboxMark[]>;
}

/** The parts of a found file that are hashed. */
export interface FoundParts {
  readonly realFile: string;
  /** Its folder, with links followed. */
  readonly directory: string;
  readonly text: string;
  readonly envFiles: EnvFiles;
}

/**
 * SHA-256 (hexadecimal) of the text, of the file that it was read from, and of the files of variables below its
 * folder, which come from the same source. A file of variables elsewhere is the user's own: only its path counts.
 */
export function hashFound({ realFile, directory, text, envFiles }: FoundParts): string {
  const near = [...envFiles].filter(([path]) => path.startsWith(join(directory, sep)));
  const all = { realFile, text: text.replace(/^\uFEFF/, ""), envFiles: Object.fromEntries(near) };
  return createHash("sha256").update(canonicalJson(all), "utf8").digest("hex");
}

/** Nothing of the file was used, because the user did not allow it. */
export class UntrustedConfig extends GatewayError {
  readonly found: FoundConfig;
  /** The text that was allowed here before, if there is one. */
  readonly before: string | undefined;

  constructor(found: FoundConfig, before?: string) {
    const { file } = found;
    const change = before === undefined ? "has not been allowed yet" : "has changed since it was allowed";
    super("CONFIG_UNTRUSTED", `${file} was found here and ${change}: nothing of it is used`, {
      hint: `Look at it, and allow it with \`toolyard trust ${quoted(file)}\`, or name it with \`--config\`.`,
    });
    this.found = found;
    this.before = before;
  }
}

/** As a shell reads it as one word. */
function quoted(path: string): string {
  return /^[\w./\\:@%+,-]+$/.test(path) ? path : JSON.stringify(path);
}
