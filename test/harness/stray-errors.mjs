import { writeFileSync } from "node:fs";

/** Writes how many errors belong to no test into the file that `scripts/test.mjs` names. Its JSON report has none. */
export default class StrayErrors {
  onTestRunEnd(_modules, errors) {
    const file = process.env["TEST_STRAY_ERRORS"];
    if (file !== undefined) writeFileSync(file, String(errors.length));
  }
}
