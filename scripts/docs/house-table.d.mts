import type { Room } from "../house.mjs";

export function houseTable(wings: readonly Room[]): string;
export function roomsTable(wing: Room): string;
