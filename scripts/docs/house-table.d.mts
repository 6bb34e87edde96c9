import type { Wing } from "../house.mjs";

export function houseTable(wings: readonly Wing[]): string;
