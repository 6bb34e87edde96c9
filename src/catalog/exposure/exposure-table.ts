import type { Settings } from "../../config/config.ts";
import type { ExposureName, exposures } from "../../config/rows/exposures.ts";
import type { Exposure } from "./exposure.ts";
import { flatExposure } from "./meta/flat.ts";
import { metaExposure } from "./meta/meta.ts";
import { createNamespacesExposure } from "./namespaces/namespaces.ts";
import { createServerExposure } from "./server.ts";

/** An exposure that shows all servers, at one path. */
export interface SharedRow {
  /** Called once. `settings` is asked each time, because an edited configuration changes it. */
  readonly create: (settings: () => Settings) => Exposure;
  /** Whether its path exists under these settings. Default: it does. */
  readonly isOn?: (settings: Settings) => boolean;
}

/** An exposure that shows a single server, with a path for each. */
export interface ServerRow {
  readonly createFor: (slug: string) => Exposure;
}

type Table = {
  readonly [Name in ExposureName]: (typeof exposures)[Name]["showsOneServer"] extends true ? ServerRow : SharedRow;
};

/**
 * How each exposure of `config/rows/exposures.ts` is made. The endpoints and the default at `/mcp` follow from the two
 * tables.
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
