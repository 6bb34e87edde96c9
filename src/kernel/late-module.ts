import { otherBuildCode } from "./build-id.ts";

/** What a gateway loads only when it is first needed. */
export type LateModule = "rest" | "front-page" | "search" | "logins" | "http" | "http-route";

/**
 * Loads one of them. Rejects with GATEWAY_REPLACED while its files are not there, or are not those that this gateway
 * was started with.
 */
export type LoadLate = <T>(what: LateModule, load: () => Promise<T>) => Promise<T>;

/** A package that is being installed has files that are missing, half-written, or of another version. */
const codes: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ENOTDIR",
  "MODULE_NOT_FOUND",
  "ERR_MODULE_NOT_FOUND",
  "ERR_INVALID_PACKAGE_CONFIG",
  "ERR_PACKAGE_PATH_NOT_EXPORTED",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  otherBuildCode,
]);

/** Whether something failed because code could not be loaded, and not because of what the code did. */
export function isLoadFailure(error: unknown): boolean {
  return error instanceof SyntaxError || (error instanceof Error && "code" in error && codes.has(error.code));
}

/** What the thread is given that looks whether a part can be loaded. */
export interface LateCheck {
  readonly what: LateModule;
  readonly buildId: string;
}
