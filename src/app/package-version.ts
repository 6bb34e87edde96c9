import { readFileSync } from "node:fs";

/** The version in package.json, which is two folders above this file, both in the sources and in the package. */
export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}
