import type { SandboxRules } from "../../config/config.ts";
import type { SandboxEngine } from "../../config/rows/sandbox-rows.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Environment } from "../process/child-environment.ts";
import type { Confine } from "../upstream/stdio/server-process.ts";
import { probeBubblewrap } from "./bubblewrap.ts";
import { prepareBubblewrap } from "./bubblewrap-start.ts";
import { hasNames, type FoundEngine, type NoEngine } from "./confined-parts.ts";
import { probeContainers } from "./container-engine.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { probeSeatbelt } from "./seatbelt.ts";

export interface SandboxDeps {
  /** Called for each start, because the configuration may be another one by then. */
  readonly own: () => OwnPlaces;
  /** The gateway's own: its PATH, in which engines are looked for, and what they need themselves. */
  readonly environment: Environment;
}

type EngineKind = Exclude<SandboxEngine, "auto">;

/** For `auto`, the engine of this system. */
export function engineOf({ engine }: Pick<SandboxRules, "engine">): EngineKind {
  return engine !== "auto" ? engine : process.platform === "darwin" ? "seatbelt" : "bubblewrap";
}

/** Finds out whether an engine works here: bubblewrap by confining something, others by asking them. Never rejects. */
export async function probeEngine(kind: EngineKind, environment: Environment): Promise<FoundEngine | NoEngine> {
  switch (kind) {
    case "bubblewrap":
      return await findBubblewrap(environment["PATH"] ?? "");
    case "docker":
    case "podman":
      return await probeContainers(kind, environment);
    case "seatbelt":
      return await probeSeatbelt();
  }
}

async function findBubblewrap(path: string): Promise<FoundEngine | NoEngine> {
  const here = await probeBubblewrap(path);
  if ("why" in here) return here;
  return {
    name: `bubblewrap ${here.version}`,
    lacks(rules) {
      if (rules.image !== undefined)
        return { why: "bubblewrap takes no image", hint: "Take `image` out, or add `engine`: docker or podman." };
      return hasNames(rules) && here.nsenter === undefined
        ? { why: "`nsenter` of util-linux is not installed", hint: "Install util-linux, or allow no names." }
        : undefined;
    },
    prepare: async (wanted, own) => await prepareBubblewrap(wanted, here, own),
  };
}

/** For how long an engine that does not work is not asked again. */
const probeAgainMs = 30_000;

interface Probed {
  readonly found: Promise<FoundEngine | NoEngine>;
  readonly atMs: number;
}

/** Confines processes of servers. No engine has been looked at yet. */
export function createConfine(deps: SandboxDeps): Confine {
  const probed = new Map<EngineKind, Probed>();

  async function probe(kind: EngineKind): Promise<FoundEngine | NoEngine> {
    const known = probed.get(kind);
    if (known !== undefined) {
      const found = await known.found;
      if (!("why" in found) || performance.now() - known.atMs < probeAgainMs) return found;
      if (probed.get(kind) !== known) return await probe(kind);
    }
    const found = probeEngine(kind, deps.environment);
    probed.set(kind, { found, atMs: performance.now() });
    return await found;
  }

  return async (wanted, signal) => {
    const found = await probe(engineOf(wanted.sandbox));
    signal.throwIfAborted();
    const missing = "why" in found ? found : found.lacks(wanted.sandbox);
    if (!("why" in found) && missing === undefined) return await found.prepare(wanted, deps.own(), signal);
    const { why = "", hint = "" } = missing ?? {};
    if (wanted.sandbox.isOptional) return { isConfined: false, why };
    throw new GatewayError("SANDBOX_UNAVAILABLE", `the server is to run in a sandbox, and ${why}`, { hint });
  };
}
