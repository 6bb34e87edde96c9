import type { Settings } from "../../config/config.ts";
import type { ExposureName, exposures } from "../../config/exposures.ts";
import type { Exposure } from "./exposure.ts";
import { flatExposure } from "./flat.ts";
import { metaExposure } from "./meta.ts";
import { createNamespacesExposure } from "./namespaces.ts";
import { createServerExposure } from "./server.ts";

/** One that shows what all servers have, at one path. */
export interface SharedRow {
  /** Called once; `settings` are asked each time, because a changed file changes them. */
  readonly create: (settings: () => Settings) => Exposure;
  /** Whether its path exists with these settings; it does where nothing is said. */
  readonly isOn?: (settings: Settings) => boolean;
}

/** One that shows a single server, at a path for each. */
export interface ServerRow {
  readonly createFor: (slug: string) => Exposure;
}

type Table = {
  readonly [Name in ExposureName]: (typeof exposures)[Name]["showsOneServer"] extends true ? ServerRow : SharedRow;
};

/**
 * How each exposure of `config/exposures.ts` is made: endpoints and the default at `/mcp` follow from the two tables.
 */
export const exposureTable: Table = {
  meta: { create: () => metaExposure },
  flat: { create: () => flatExposure },
  namespaces: {
    create: (settings) => createNamespacesExposure({ helpTool: () => settings().namespaces.helpTool }),
    isOn: (settings) => settings.namespaces.enabled,
  },
  server: { createFor: createServerExposure },
};
