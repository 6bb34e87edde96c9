import { effectOfCall, namedEffect, withAnnotations, type EffectChoice } from "../../catalog/model/effects.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ServerConfig } from "../../config/config.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";
import { strongestOf, type ToolEffect } from "../../kernel/call/tool-effects.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { mayUse } from "./tool-rules.ts";

/** A server as far as decisions about its tools go. */
export type DecidingServer = Pick<ServerConfig, "tools" | "annotations">;

/** The decision about a tool, or about one call of it. */
export interface Decision {
  readonly verdict: "allow" | "ask" | "deny";
  readonly effect: ToolEffect;
  /** Why the tool has this effect, as the end of a sentence: `its name says so (delete)`. */
  readonly because: string;
  /** The rule of the configuration that decided; null where the effect alone did. */
  readonly rule: string | null;
}

/** The decision about a tool whatever its arguments are, and what of them could change it. */
interface ToolDecision extends Decision {
  /** Empty where arguments change nothing. */
  readonly choices: readonly EffectChoice[];
  readonly server: DecidingServer;
  readonly asked: readonly ToolEffect[];
}

/** The last one for each tool: lists are shared by instances, whose rules are nearly always the same object. */
const known = new WeakMap<ToolEntry, ToolDecision>();

/**
 * Decides about a tool: denied, asked about, or allowed. The strictest rule counts, whichever it is: `tools.deny`, then
 * `tools.ask`, then `tools.neverAsk`, then the effects that are asked about. Pure, and remembered: a tool that needs no
 * question costs a look-up.
 *
 * @param asked the effects of `policy.ask`
 */
export function decideTool(tool: ToolEntry, server: DecidingServer, asked: readonly ToolEffect[]): ToolDecision {
  const before = known.get(tool);
  if (before !== undefined && before.server.tools === server.tools && before.asked === asked) return before;
  const made = { ...decide(tool, server, asked), server, asked };
  known.set(tool, made);
  return made;
}

/** The same for a call, whose arguments may choose something worse than the tool's name says. */
export function decideCall(
  tool: ToolEntry,
  server: DecidingServer,
  { asked, given }: { readonly asked: readonly ToolEffect[]; readonly given: () => unknown },
): Decision {
  const decided = decideTool(tool, server, asked);
  if (decided.verdict !== "allow" || decided.choices.length === 0) return decided;
  const effect = effectOfCall(decided.effect, decided.choices, given());
  if (effect === decided.effect) return decided;
  const because = `its arguments say so (${decided.choices.map(({ parameter }) => parameter).join(", ")})`;
  return { verdict: asked.includes(effect) ? "ask" : "allow", effect, because, rule: null };
}

function decide(
  { upstreamName, definition }: ToolEntry,
  { tools, annotations }: DecidingServer,
  asked: readonly ToolEffect[],
): Omit<ToolDecision, "server" | "asked"> {
  const said = effectOf(upstreamName, definition, { tools, annotations });
  const { effect, because } = said;
  const fits = (patterns: readonly string[]): string | undefined =>
    patterns.find((pattern) => matchesPattern(pattern, upstreamName));
  if (!mayUse(localPrincipal, { rules: tools, tool: upstreamName }))
    return { verdict: "deny", effect, because, rule: "tools.deny or tools.allow", choices: [] };
  const ask = fits(tools.ask);
  if (ask !== undefined) return { verdict: "ask", effect, because, rule: `tools.ask: ${ask}`, choices: [] };
  const never = fits(tools.neverAsk);
  if (never !== undefined) return { verdict: "allow", effect, because, rule: `tools.neverAsk: ${never}`, choices: [] };
  const isAsked = asked.includes(effect);
  return {
    ...{ verdict: isAsked ? "ask" : "allow", effect, because, rule: null },
    choices: isAsked ? [] : said.choices,
  };
}

/** What a tool does whatever rule there is for it, and what of a call's arguments makes it worse. Pure. */
export function effectOf(
  name: string,
  definition: ToolEntry["definition"],
  { tools, annotations }: DecidingServer,
): Pick<ToolDecision, "effect" | "because" | "choices"> {
  const written = Object.entries(tools.effects).filter(([pattern]) => matchesPattern(pattern, name));
  const [first] = written;
  // What the file says is meant, arguments included.
  if (first !== undefined) {
    const effect = strongestOf(
      written.map(([, one]) => one),
      first[1],
    );
    return { effect, because: "the configuration says so (tools.effects)", choices: [] };
  }
  const named = namedEffect(name, definition);
  const effect = withAnnotations(named.effect, definition, annotations);
  if (effect !== named.effect) return { effect, because: "its server says so", choices: named.choices };
  const because =
    named.word === undefined ? "neither its name nor its server says more" : `its name says so (${named.word})`;
  return { effect, because, choices: named.choices };
}
