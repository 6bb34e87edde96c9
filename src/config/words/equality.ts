import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config.ts";

/** Whether two configurations mean the same, wherever they came from. */
export function isSameConfig(a: Config, b: Config): boolean {
  return (
    isDeepStrictEqual(a.servers, b.servers) &&
    isDeepStrictEqual(a.settings, b.settings) &&
    isDeepStrictEqual(a.people, b.people) &&
    isDeepStrictEqual(a.warnings, b.warnings)
  );
}
