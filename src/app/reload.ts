import type { Config } from "../config/config.ts";
import { changedForNextStart } from "../config/settings/settings.ts";
import { watchConfig } from "../config/file/watch.ts";
import type { Log } from "../kernel/runtime/log.ts";
import type { GatewayParts } from "./gateway-parts.ts";

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
      // Compared with the configuration of the start, which is what those parts were made from.
      const later = changedForNextStart(current.settings, next.settings);
      if (later.length > 0) log.warn({ component: "config" }, `takes effect at the next start: ${later.join(", ")}`);
      await gateway.apply(next);
      log.info({ component: "config", operation: "reload" }, `${file} was applied`);
    },
    onRefused(error) {
      const todo = error.code === "CONFIG_UNTRUSTED" ? ` ${error.hint}` : "";
      log.error(
        { component: "config", operation: "reload" },
        `the changed configuration is refused, the old one stays: ${error.message}${todo}`,
      );
      gateway.events.emit({ type: "config.refused", atMs: Date.now(), file, reason: error.message });
    },
    onMended() {
      gateway.events.emit({ type: "config.mended", atMs: Date.now(), file });
    },
    signal,
  });
}
