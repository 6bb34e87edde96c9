/** An exposure that a configuration may name for `/mcp`. */
export interface ExposureChoice {
  /** What it shows, as the end of a line: "every tool of every server". */
  readonly about: string;
  /**
   * Whether it shows one server unchanged. Every server then has a path of its own, and `/mcp` shows one only with
   * `transparent`.
   */
  readonly showsOneServer: boolean;
}

/**
 * Every exposure, by the name that is also its path. How each is made is in `catalog/exposure/exposure-table.ts`,
 * which does not compile without a row for each of these.
 */
export const exposures = {
  meta: { about: "four tools that find and call all others", showsOneServer: false },
  flat: { about: "every tool of every server, as `server-tool`", showsOneServer: false },
  namespaces: { about: "namespaces to browse, and the tools of those that are loaded", showsOneServer: false },
  server: { about: "one server, unchanged", showsOneServer: true },
} as const satisfies Readonly<Record<string, ExposureChoice>>;

export type ExposureName = keyof typeof exposures;
export const exposureNames = Object.keys(exposures) as [ExposureName, ...ExposureName[]];
