import type { SandboxRules, StdioTransport } from "../../config/config.ts";
import { describeSandbox } from "../../config/entry/sandbox-entry.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { childEnvironment, type Environment } from "../process/child-environment.ts";
import { engineOf, probeEngine } from "./confine.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { planSandbox } from "./sandbox-plan.ts";

/** What a sandbox would be for one server, in words. */
export interface ExplainedSandbox {
  readonly engine: string;
  /** What this machine lacks, and what to do about it; null where it can confine. */
  readonly lacks: string | null;
  readonly reaches: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly hidden: readonly string[];
  /** What the entry names and the server would not see, or why it would not be started. */
  readonly notes: readonly string[];
}

/** Says what a server would see and reach. Confines nothing but a trial of the engine; starts no server. */
export async function explainSandbox(
  transport: Omit<StdioTransport, "kind"> & { readonly sandbox: SandboxRules },
  { environment, own }: { readonly environment: Environment; readonly own: OwnPlaces },
): Promise<ExplainedSandbox> {
  const { sandbox: rules } = transport;
  const found = await probeEngine(engineOf(rules), environment);
  const env = childEnvironment(environment, transport.env);
  const plan = await planSandbox(transport, env, own).catch(toGatewayError);
  const missing = "why" in found ? found : found.lacks(rules);
  const facts = {
    engine: "why" in found ? "none" : found.name,
    lacks: missing === undefined ? null : `${missing.why}. ${missing.hint}`,
    reaches: describeSandbox(rules),
  };
  if (plan instanceof Error) return { ...facts, reads: [], writes: [], hidden: [], notes: [plan.message] };
  const places = (isWritable: boolean): readonly string[] =>
    plan.visible.filter((place) => place.isWritable === isWritable).map(({ target }) => target);
  const unfound = plan.command === undefined ? [`${transport.command} is found nowhere`] : [];
  return {
    ...facts,
    reads: places(false),
    writes: places(true),
    hidden: plan.hidden.map(({ path }) => path),
    notes: [...unfound, ...plan.notes, ...unseenValues(transport.env, plan.visible)],
  };
}

/** Paths in variables are not followed: a variable is a text, and may be anything. */
function unseenValues(
  env: Readonly<Record<string, string>>,
  visible: readonly { readonly target: string }[],
): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!/^\/[^:,\s]+$/.test(value) || visible.some(({ target }) => value.startsWith(target))) return [];
    return [`the variable ${name} looks like a path that it would not see`];
  });
}
