import { createHash } from "node:crypto";
import type { Transport } from "../../../config/config.ts";
import { hasProcess } from "../../../config/transports.ts";

/** `npx [-y|--yes] name[@range] args...` and nothing else: the form whose folder is known without asking npm. */
export interface NpxForm {
  /** The package as it is written, such as `@scope/name@^1`. */
  readonly specification: string;
  readonly args: readonly string[];
}

/** A name of the registry, with a version, range or tag; no folder, address or repository. */
const registryName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(@[^/:\\]+)?$/i;

export function npxFormOf(transport: Transport): NpxForm | undefined {
  if (!hasProcess(transport) || !/(^|\/)npx$/.test(transport.command)) return undefined;
  const isAgreed = transport.args[0] === "-y" || transport.args[0] === "--yes";
  const [specification, ...args] = isAgreed ? transport.args.slice(1) : transport.args;
  if (specification === undefined || specification.startsWith("-") || !registryName.test(specification))
    return undefined;
  return { specification, args };
}

/** The name of the folder below `_npx` that npm installs a single package into: see libnpmexec. */
export function npxFolderName(specification: string): string {
  return createHash("sha512").update(specification).digest("hex").slice(0, 16);
}
