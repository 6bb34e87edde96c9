import type { Exposure } from "../../catalog/exposure/exposure.ts";
import type { View } from "../../catalog/model/view.ts";
import { createSlices } from "../../kernel/slices.ts";

/** Names of fewer tools are made in a few milliseconds by the look-up that needs them. */
const manyTools = 2_000;

/**
 * Makes the names by which tools are listed and called, for the first request over MCP of a view that needs them; a
 * program that asks over REST makes them at once. Undefined when there is nothing to wait for, which is always so in a
 * view of fewer than two thousand tools.
 */
export type NamesInTurns = (
  view: Pick<View, "names">,
  exposure: Pick<Exposure, "spelling">,
) => Promise<void> | undefined;

/** In turns with everything else: the names of a hundred thousand tools would hold all clients up for 0.2 s. */
export function createNamesInTurns(): NamesInTurns {
  const slices = createSlices();
  return ({ names }, { spelling }) => {
    if (names.tools.length < manyTools) return undefined;
    const steps = names.inSteps(spelling);
    return steps === undefined ? undefined : slices.run(steps);
  };
}
