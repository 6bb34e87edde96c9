import { isDeepStrictEqual } from "node:util";
import type { Config, Settings } from "../config/config.ts";
import { watchConfig } from "../config/watch.ts";
import type { Log } from "../kernel/log.ts";
import type { GatewayParts } from "./gateway.ts";

export interface ReloadOptions {
  readonly gateway: Pick<GatewayParts, "config" | "apply" | "events">;
  /** Reads the file again, with the flags and variables of the start. */
  readonly load: () => Promise<Config>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Applies changes of the configuration file while the gateway runs; a broken one is refused and the old one stays. */
export async function followConfigFile({ gateway, load, log, signal }: ReloadOptions): Promise<void> {
  const current = gateway.config();
  const { file } = current;
  if (file === undefined) return;
  await watchConfig({
    file,
    current,
    load,
    async onApplied(next) {
      for (const warning of next.warnings) log.warn({ component: "config" }, warning);
      const later = changedLater(current.settings, next.settings);
      if (later.length > 0) {
        log.warn({ component: "config" }, `takes effect at the next start: ${later.join(", ")}`);
      }
      await gateway.apply(next);
      log.info({ component: "config", operation: "reload" }, `${file} was applied`);
    },
    onRefused(error) {
      log.error(
        { component: "config", operation: "reload" },
        `the changed configuration is refused, the old one stays: ${error.message}`,
      );
      gateway.events.emit({ type: "config.refused", atMs: Date.now(), file, reason: error.message });
    },
    signal,
  });
}

/** Sockets, stores and parts with a state of their own are made once; everything else follows the file. */
const fixed = ["host", "port", "dataDir", "logLevel", "search", "results"] as const;
const fixedLimits = [
  "requestBodyBytes",
  "resultBytes",
  "jsonDepth",
  "bodyTimeoutMs",
  "sessions",
  "sessionIdleMs",
  "contentBlocks",
  "parkedMs",
] as const;

function changedLater(before: Settings, after: Settings): readonly string[] {
  return [
    ...fixed.filter((name) => !isDeepStrictEqual(before[name], after[name])),
    ...fixedLimits.filter((name) => before.limits[name] !== after.limits[name]).map((name) => `limits.${name}`),
  ];
}
