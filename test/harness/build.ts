import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Tests of the running gateway run what `npm run build` makes. */
export default function build(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url))], {
    stdio: "inherit",
  });
}
