import { slices } from "../../../kernel/runtime/slices.ts";
import type { Listing, NameTable } from "./names.ts";

/** Names of fewer tools are made in a few milliseconds by the look-up that needs them. */
const manyTools = 2_000;

/**
 * Makes the names of a view that a request lists (`listing`) or looks one up in (`spelling`), before it does so: for
 * the first request, over MCP, REST or from the command line. Undefined when there is nothing to wait for, which is
 * always so in a view of fewer than two thousand tools.
 */
export type LazyNames = (
  view: { readonly names: NameTable },
  listing: Listing | undefined,
  spelling?: string,
) => Promise<void> | undefined;

/** In turns with everything else: the names of a hundred thousand tools would hold all clients up for 0.2 s. */
export function createLazyNames(): LazyNames {
  return ({ names }, listing, spelling) => {
    if (names.tools.length < manyTools) return undefined;
    const steps = names.inSteps(listing, spelling);
    return steps === undefined ? undefined : slices.run(steps);
  };
}
