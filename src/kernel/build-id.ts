/** Put in by scripts/build.mjs; not there when the sources themselves run. */
declare const TOOLYARD_BUILD_ID: string | undefined;

/** Which sources this was built from: files that are loaded later must be of the same. Empty when it was not built. */
export const buildId: string = typeof TOOLYARD_BUILD_ID === "undefined" ? "" : TOOLYARD_BUILD_ID;

export const otherBuildCode = "TOOLYARD_OTHER_BUILD";

/**
 * For worker threads, whose files have the same name in every build. Throws when `wanted` is another build than this
 * one.
 */
export function requireBuild(wanted: string): void {
  if (wanted === "" || buildId === "" || wanted === buildId) return;
  throw Object.assign(new Error("it was built from other sources"), { code: otherBuildCode });
}
