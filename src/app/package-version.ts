import { readFileSync } from "node:fs";

/** The version in package.json, which lies two folders above this file in source and package alike. */
export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}
