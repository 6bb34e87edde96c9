import type { Config, ServerConfig } from "../../config/config.ts";
import type { FlowLabels } from "../../engine/flows/flow-labels.ts";
import type { PassingChecks } from "../../engine/perform/stages.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
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
  readonly clock: Pick<Clock, "now">;
}

export interface Checks {
  /** Those that the configuration turns on now: the same object until it turns on others. */
  readonly current: () => PassingChecks | undefined;
  /** What clients have read. */
  readonly labels: () => Promise<FlowLabels>;
}

type OpenChecks = Omit<PassingChecks, "opening">;

/** The code of each check is loaded with the first call that passes it. */
export function createChecks(deps: CheckDeps): Checks {
  const serverOf = (id: InstanceId): ServerConfig | undefined => deps.fleet.get(id)?.server;
  const labels = openOnce(async () => {
    const load = async () => await import("../../engine/flows/flow-labels.ts");
    return (await deps.late.load("the code that looks at flows", load)).createFlowLabels(deps.clock);
  });
  let mode = "off";
  let rules: Config["settings"]["policy"]["flows"] = [];
  let checks: PassingChecks | undefined;

  async function flowChecks(given: typeof rules): Promise<OpenChecks> {
    const load = async () => await import("../../engine/perform/stages/flow-stage.ts");
    const { createFlowChecks } = await deps.late.load("the code that looks at flows", load);
    const policy = (): Config["settings"]["policy"] => deps.config().settings.policy;
    return createFlowChecks({ labels: await labels(), rules: given, policy, serverOf });
  }

  return {
    labels,
    current() {
      const { policy, team } = deps.config().settings;
      const now = policy.secrets ?? (team ? "own" : "off");
      if (now === mode && policy.flows === rules) return checks;
      mode = now;
      rules = policy.flows;
      const opens = [
        ...(now === "off" ? [] : [async () => await secretChecks(deps, serverOf, now === "patterns")]),
        ...(rules.length === 0 ? [] : [async () => await flowChecks(policy.flows)]),
      ];
      return (checks = opens.length === 0 ? undefined : joined(opens));
    },
  };
}

/** Several checks as one, which are opened together. */
function joined(opens: readonly (() => Promise<OpenChecks>)[]): PassingChecks {
  let ready: readonly OpenChecks[] | undefined;
  const open = openOnce(async () => void (ready = await Promise.all(opens.map(async (one) => await one()))));
  return {
    opening: () => (ready === undefined ? open() : undefined),
    within: (intent, work) => (ready ?? []).reduce((inner, checks) => checks.within(intent, inner), work),
    gates: opens.map((_, at) => (intent, work) => ready?.[at]?.gates[0]?.(intent, work)),
    after(intent, work, outcome) {
      let last: ReturnType<PassingChecks["after"]> = outcome;
      for (const checks of ready ?? [])
        last =
          last instanceof Promise
            ? last.then((one) => checks.after(intent, work, one))
            : checks.after(intent, work, last);
      return last;
    },
  };
}

async function secretChecks(
  { config, fleet, redaction, logins, late }: CheckDeps,
  serverOf: (id: InstanceId) => ServerConfig | undefined,
  hasShapes: boolean,
): Promise<OpenChecks> {
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
  return createSecretChecks({ known: redaction.known, judge, hasShapes, serverOf, slices });
}
