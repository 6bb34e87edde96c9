import type { SeenClient } from "./clients-page.mjs";

export declare function clientsTranscriptPage(seen: readonly SeenClient[]): string;
