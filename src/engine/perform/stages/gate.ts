import type { Intent } from "../../../catalog/exposure/intent.ts";
import type { Work } from "../work.ts";

/**
 * A stage before the run. It lets an intent pass by returning nothing, or a promise of nothing, and stops it by
 * throwing or rejecting.
 */
export type Gate = (intent: Intent, work: Work) => Promise<void> | undefined;
