import type { ExposureChoice } from "../../src/config/rows/exposures.ts";

export function exposureRows(exposures: Readonly<Record<string, ExposureChoice>>): string;
