import type { Config, ServerConfig } from "../../config/config.ts";
import type { PassingChecks } from "../../engine/perform/stages.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { openOnce, type LateModules } from "../../kernel/runtime/late-module.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import type { Redaction } from "../../records/redaction/redaction.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import type { GatewayLogins } from "../servers/server-logins.ts";

export interface CheckDeps {
  readonly config: () => Config;
  readonly fleet: Pick<Fleet, "get" | "all">;
  readonly redaction: Pick<Redaction, "json" | "known">;
  readonly logins: Pick<GatewayLogins, "holderOf">;
  readonly late: LateModules;
}

/** The checks that the configuration turns on now: the same object until it turns on others. */
export function createChecks(deps: CheckDeps): () => PassingChecks | undefined {
  let mode = "off";
  let checks: PassingChecks | undefined;
  return () => {
    const { policy, team } = deps.config().settings;
    const now = policy.secrets ?? (team ? "own" : "off");
    if (now !== mode) {
      mode = now;
      checks = now === "off" ? undefined : secretChecks(deps, now === "patterns");
    }
    return checks;
  };
}

function secretChecks({ config, fleet, redaction, logins, late }: CheckDeps, hasShapes: boolean): PassingChecks {
  let ready: Omit<PassingChecks, "opening"> | undefined;
  const serverOf = (id: InstanceId): ServerConfig | undefined => fleet.get(id)?.server;
  const open = openOnce(async () => {
    const load = async () =>
      await Promise.all([
        import("../../engine/perform/stages/secret-stage.ts"),
        import("../../engine/flows/secret-owners.ts"),
      ]);
    const [{ createSecretChecks }, { createSecretOwners }] = await late.load("the code that looks for secrets", load);
    const judge = createSecretOwners({
      known: redaction.known,
      *servers() {
        yield* config().servers;
        for (const { server } of fleet.all()) yield server;
      },
      loginOf: (token) => serverOf((logins.holderOf(token) ?? "") as InstanceId),
      variables: () => config().identity?.variables ?? {},
    });
    ready = createSecretChecks({ known: redaction.known, judge, hasShapes, serverOf, slices });
  });
  return {
    opening: () => (ready === undefined ? open() : undefined),
    within: (intent, work) => ready?.within(intent, work) ?? work,
    gates: [(intent, work) => ready?.gates[0]?.(intent, work)],
    after: (intent, work, outcome) => ready?.after(intent, work, outcome) ?? outcome,
  };
}
