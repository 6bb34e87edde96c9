import { effectOfCall, namedEffect, withAnnotations, type EffectChoice } from "../../catalog/model/effects.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { PolicyRule } from "../../config/rows/rule-rows.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";
import { isAsGood, isStronger, strongestOf, type Approver, type ToolEffect } from "../../kernel/call/tool-effects.ts";
import type { Principal } from "../../kernel/principal.ts";
import {
  fitsCall,
  isAbout,
  rulesFor,
  toSearched,
  type CalledEffects,
  type NamedRule,
  type SearchedArguments,
} from "./policy-rules.ts";
import { mayUse } from "./tool-rules.ts";

/** A server as far as decisions about its tools go. */
export type DecidingServer = Pick<ServerConfig, "slug" | "key" | "tools" | "annotations" | "installed">;

/** A tool as far as decisions about it go. */
export type DecidedTool = Pick<ToolEntry, "upstreamName" | "definition">;

/** `toolyard.policy`: the same object until the configuration changes. */
export interface Policy {
  readonly ask: readonly ToolEffect[];
  readonly rules: readonly PolicyRule[];
}

/** By which rules, and for whom, it is decided about a tool. */
export interface Deciding {
  readonly server: DecidingServer;
  readonly policy: Policy;
  readonly principal: Pick<Principal, "roles">;
}

/** The decision about a tool, or about one call of it. */
export interface Decision {
  readonly verdict: "allow" | "ask" | "deny";
  readonly effect: ToolEffect;
  /** Why the tool has this effect, as the end of a sentence: `its name says so (delete)`. */
  readonly because: string;
  /** The rule of the configuration that decided; null where the effect alone did. */
  readonly rule: string | null;
  /** Who says yes where it asks. */
  readonly approver: Approver;
}

/** The decision about a tool whatever its arguments are, and what of them could change it. */
interface ToolDecision extends Decision {
  /** Empty where arguments do not change what the tool does. */
  readonly choices: readonly EffectChoice[];
  /** Rules that are about the person and the tool. */
  readonly rules: readonly NamedRule[];
  /** Whether arguments could change the decision. */
  readonly dependsOnCall: boolean;
  readonly tools: DecidingServer["tools"];
  readonly policy: Policy;
  readonly who: string;
  /** Of the last person who asked: the same list is the same people, without looking further. */
  roles: readonly string[];
  /** Another one about the same tool: for other people, or another server. */
  readonly next: ToolDecision | undefined;
}

/** The last ones for each tool: lists are shared by instances, whose rules are nearly always the same object. */
const known = new WeakMap<DecidedTool, ToolDecision>();
/** Decisions about one tool that are kept. */
const mostKept = 8;

/**
 * Decides about a tool: denied, asked about, or allowed. The strictest rule counts, wherever it is: `tools.deny` and
 * rules that deny; then `tools.ask` and rules that ask, of which the one with the highest approver counts; then
 * `tools.neverAsk` and rules that allow; then the effects that are asked about. Pure, and remembered: a tool that needs
 * no question costs a look-up.
 */
export function decideTool(tool: DecidedTool, deciding: Deciding): ToolDecision {
  const { server, policy, principal } = deciding;
  const { roles } = principal;
  const first = known.get(tool);
  for (let one = first; one !== undefined; one = one.next)
    if (one.tools === server.tools && one.policy === policy && one.roles === roles) return one;
  const set = rulesFor(policy.rules, server);
  const who = set.whoOf(roles);
  for (let one = first; one !== undefined; one = one.next)
    if (one.tools === server.tools && one.policy === policy && one.who === who) {
      one.roles = roles;
      return one;
    }
  const about = { slug: server.slug, key: server.key, tool: tool.upstreamName };
  const rules = set.all.filter((rule) => isAbout(rule, who, about));
  const said = effectOf(tool, server);
  const decided = judge({ tool, server, policy, rules }, { does: { tool: said.effect, call: said.effect } });
  const made: ToolDecision = {
    ...{ ...said, ...decided, rules, tools: server.tools, policy, who, roles },
    dependsOnCall:
      decided.verdict !== "deny" && (said.choices.length > 0 || rules.some(({ when }) => when !== undefined)),
    next: keptOf(first, policy),
  };
  known.set(tool, made);
  return made;
}

/** Those before, unless they are too many, or under earlier rules. */
function keptOf(first: ToolDecision | undefined, policy: Policy): ToolDecision | undefined {
  let count = 0;
  for (let one = first; one !== undefined; one = one.next) count += one.policy === policy ? 1 : mostKept;
  return count < mostKept ? first : undefined;
}

/** The same for a call, whose arguments may choose something worse than the name says, or be what a rule is about. */
export function decideCall(tool: DecidedTool, deciding: Deciding, given: () => unknown): Decision {
  const { server, policy } = deciding;
  const decided = decideTool(tool, deciding);
  if (!decided.dependsOnCall) return decided;
  const { choices, rules, effect: ofTool } = decided;
  const value = given();
  const effect = effectOfCall(ofTool, choices, value);
  const hasPaths = rules.some(({ when }) => when !== undefined);
  if (effect === ofTool && !hasPaths) return decided;
  const because =
    effect === ofTool
      ? decided.because
      : `its arguments say so (${choices.map(({ parameter }) => parameter).join(", ")})`;
  const call = { does: { tool: ofTool, call: effect }, given: hasPaths ? toSearched(value) : undefined };
  return { effect, because, ...judge({ server, policy, tool, rules }, call) };
}

/** Whether there are rules beside those of the entry. */
export function hasRules({ server, policy }: Pick<Deciding, "server" | "policy">): boolean {
  return policy.rules.length > 0 || server.tools.rules !== undefined;
}

/** Whether a tool is shown and called at all, whatever its arguments are. */
export function isOffered(tool: DecidedTool, deciding: Deciding): boolean {
  if (hasRules(deciding)) return decideTool(tool, deciding).verdict !== "deny";
  const { server } = deciding;
  return mayUse({ rules: server.tools, tool: tool.upstreamName });
}

interface Judged {
  readonly tool: DecidedTool;
  readonly server: DecidingServer;
  readonly policy: Policy;
  readonly rules: readonly NamedRule[];
}

interface JudgedCall {
  readonly does: CalledEffects;
  readonly given?: SearchedArguments | undefined;
}

type Verdict = Pick<Decision, "verdict" | "rule" | "approver">;

function judge({ tool, server, policy, rules }: Judged, { does, given }: JudgedCall): Verdict {
  const name = tool.upstreamName;
  const { tools, installed } = server;
  if (!mayUse({ rules: tools, tool: name })) return verdictOf("deny", "tools.deny or tools.allow");
  const fitting = rules.length === 0 ? rules : rules.filter((rule) => fitsCall(rule, does, given));
  const denying = fitting.find(({ then }) => then === "deny");
  if (denying !== undefined) return verdictOf("deny", denying.name);
  const asking = askedBy(
    fitting,
    tools.ask.find((pattern) => matchesPattern(pattern, name)),
  );
  if (asking !== undefined) return asking;
  // What a team wrote makes no rule of the gateway weaker, and none of these was meant for it.
  if (installed?.isOfTeam !== true) {
    const never = tools.neverAsk.find((pattern) => matchesPattern(pattern, name));
    if (never !== undefined) return verdictOf("allow", `tools.neverAsk: ${never}`);
    const allowing = fitting.find(({ then }) => then === "allow");
    if (allowing !== undefined) return verdictOf("allow", allowing.name);
  }
  const isAsked = policy.ask.includes(does.tool) || policy.ask.includes(does.call);
  return verdictOf(isAsked ? "ask" : "allow", null);
}

function verdictOf(verdict: Verdict["verdict"], rule: string | null, approver: Approver = "self"): Verdict {
  return { verdict, rule, approver };
}

/** The rule that asks for the highest approver, the first of several. */
function askedBy(fitting: readonly NamedRule[], pattern: string | undefined): Verdict | undefined {
  let found = pattern === undefined ? undefined : verdictOf("ask", `tools.ask: ${pattern}`);
  for (const { then, name, approver = "self" } of fitting)
    if (then === "ask" && (found === undefined || !isAsGood(found.approver, approver)))
      found = verdictOf("ask", name, approver);
  return found;
}

/** What a tool does whatever rule there is for it, and what of a call's arguments makes it worse. Pure. */
export function effectOf(
  { upstreamName: name, definition }: DecidedTool,
  { tools, annotations, installed }: DecidingServer,
): Pick<ToolDecision, "effect" | "because" | "choices"> {
  const named = namedEffect(name, definition);
  const isOfTeam = installed?.isOfTeam === true;
  const written = Object.entries(tools.effects).filter(([pattern]) => matchesPattern(pattern, name));
  const [first] = written;
  // What the file says is meant, arguments included.
  if (first !== undefined) {
    const effect = strongestOf(
      written.map(([, one]) => one),
      first[1],
    );
    if (!isOfTeam || isStronger(effect, named.effect))
      return { effect, because: "the configuration says so (tools.effects)", choices: isOfTeam ? named.choices : [] };
  }
  const effect = withAnnotations(named.effect, definition, isOfTeam && annotations === "trust" ? "raise" : annotations);
  if (effect !== named.effect) return { effect, because: "its server says so", choices: named.choices };
  const because =
    named.word === undefined ? "neither its name nor its server says more" : `its name says so (${named.word})`;
  return { effect, because, choices: named.choices };
}
