import type { ExposureChoice } from "../../src/config/exposures.ts";

export function exposureRows(exposures: Readonly<Record<string, ExposureChoice>>): string;
