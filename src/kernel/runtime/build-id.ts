import { readFileSync } from "node:fs";

/** Defined by scripts/build.mjs; undefined when the sources run unbuilt. */
declare const TOOLYARD_BUILD_ID: string | undefined;

/**
 * Identifies the sources that this build was made from. Files loaded later must come from the same build. Empty when
 * the sources run unbuilt.
 */
export const buildId: string = typeof TOOLYARD_BUILD_ID === "undefined" ? "" : TOOLYARD_BUILD_ID;

/**
 * The same of the build that is installed now, which writes it last: undefined while it is not complete. Empty when the
 * sources run unbuilt.
 */
export function installedBuild(): string | undefined {
  if (buildId === "") return "";
  try {
    return readFileSync(new URL("../build-id", import.meta.url), "utf8");
  } catch {
    return undefined;
  }
}

/** Error code of a worker thread that was loaded from a different build. */
export const otherBuildCode = "TOOLYARD_OTHER_BUILD";

/**
 * Checks a worker thread's build: worker files have the same name in every build, so the name cannot tell. Throws an
 * error with the code {@link otherBuildCode} when `wanted` is not this build.
 */
export function requireBuild(wanted: string): void {
  if (wanted === "" || buildId === "" || wanted === buildId) return;
  throw Object.assign(new Error("it was built from other sources"), { code: otherBuildCode });
}
