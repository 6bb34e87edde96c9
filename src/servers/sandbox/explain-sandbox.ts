import type { StdioTransport } from "../../config/config.ts";
import { describeSandbox, toSandboxRules } from "../../config/entry/sandbox-entry.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { childEnvironment, type Environment } from "../process/child-environment.ts";
import { probeBubblewrap } from "./bubblewrap.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { planSandbox } from "./sandbox-plan.ts";

/** What a sandbox would be for one server, in words. */
export interface ExplainedSandbox {
  /** Whether its entry or the settings want one. */
  readonly isWanted: boolean;
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

/** Says what a server would see and reach. Confines nothing but a trial of bubblewrap; starts no server. */
export async function explainSandbox(
  transport: Omit<StdioTransport, "kind">,
  { environment, own }: { readonly environment: Environment; readonly own: OwnPlaces },
): Promise<ExplainedSandbox> {
  const source = { directory: transport.cwd, home: () => own.home, mode: "off", roots: [] } as const;
  const rules = transport.sandbox ?? toSandboxRules(true, source);
  if (rules === undefined) throw new Error("true makes rules");
  const here = await probeBubblewrap(environment["PATH"] ?? "");
  const env = childEnvironment(environment, transport.env);
  const plan = await planSandbox({ ...transport, sandbox: rules }, env, own).catch(toGatewayError);
  const isMissing = "why" in here;
  const hasNsenter =
    !isMissing && (here.nsenter !== undefined || rules.network === "host" || rules.network.length === 0);
  const facts = {
    isWanted: transport.sandbox !== undefined,
    engine: isMissing ? "none" : `bubblewrap ${here.version}`,
    lacks: isMissing ? `${here.why}. ${here.hint}` : hasNsenter ? null : "`nsenter` of util-linux is not installed.",
    reaches: describeSandbox(rules),
  };
  if (plan instanceof Error) return { ...facts, reads: [], writes: [], hidden: [], notes: [plan.message] };
  const places = (isWritable: boolean): readonly string[] =>
    plan.visible.filter((place) => place.isWritable === isWritable).map(({ target }) => target);
  const missing = plan.command === undefined ? [`${transport.command} is found nowhere`] : [];
  return {
    ...facts,
    reads: places(false),
    writes: places(true),
    hidden: plan.hidden.map(({ path }) => path),
    notes: [...missing, ...plan.notes, ...unseenValues(transport.env, plan.visible)],
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
