import type { Room } from "./house.mjs";

export function upwards(from: string, to: string): string | undefined;
export function placesOf(rooms?: readonly Room[], above?: string): readonly string[];
