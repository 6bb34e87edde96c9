import { pinTools, unseenServers } from "../../../catalog/exposure/pinned-tools.ts";
import type { PinnedTools } from "../../../catalog/exposure/exposure.ts";
import type { ChosenPins, Pins } from "../../../catalog/discovery/pins.ts";
import type { View } from "../../../catalog/model/view.ts";
import { isMetaTool } from "../../../catalog/exposure/meta/meta-tools.ts";
import type { Routing } from "../../../engine/calls/routing.ts";
import type { CallContext, Era } from "../../../kernel/call/call-context.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import type { Caller } from "../caller.ts";

export interface PinnedListDeps {
  readonly pins: Pick<Pins, "of">;
  readonly viewOf: (principal: Principal) => View;
  readonly routing: Pick<Routing, "wake">;
}

interface Work {
  readonly request: ClientRequest;
  readonly caller: Caller;
  readonly context: CallContext;
  readonly view: View;
}

/**
 * The pinned tools that a request is about: a list of tools, or a call by a name that is none of the four. Undefined
 * for all others. At once where everything is known. In a session they are what they were when they were first asked
 * for, so that the client's prompt cache stays valid; without one they follow the view.
 */
export type PinnedFor = (work: Work) => PinnedTools | undefined | Promise<PinnedTools | undefined>;

export function createPinnedFor({ pins, viewOf, routing }: PinnedListDeps): PinnedFor {
  const made = new WeakMap<View, Map<string, PinnedTools>>();

  function pinnedIn(view: View, paths: readonly string[], era: Era): PinnedTools {
    let lists = made.get(view);
    if (lists === undefined) made.set(view, (lists = new Map()));
    const key = [era, ...paths].join("\n");
    let pinned = lists.get(key);
    if (pinned === undefined) lists.set(key, (pinned = pinTools(view, paths, era)));
    return pinned;
  }

  function decide({ caller, view }: Work, { paths }: ChosenPins): PinnedTools {
    const pinned = pinnedIn(view, paths, caller.client.era);
    if (caller.session !== undefined) caller.session.pinned ??= pinned;
    return caller.session?.pinned ?? pinned;
  }

  /** A server that was never seen is waited for as a search does, so that it is not missing from a whole session. */
  async function decideWoken(work: Work, chosen: ChosenPins): Promise<PinnedTools> {
    const { principal, signal } = work.context;
    const unseen = unseenServers(work.view, chosen.paths);
    await Promise.allSettled(unseen.map(async ({ instance }) => await routing.wake(instance, signal)));
    return decide({ ...work, view: viewOf(principal) }, chosen);
  }

  function decideSoon(work: Work, chosen: ChosenPins): PinnedTools | Promise<PinnedTools> {
    const isList = work.request.method === "tools/list";
    return isList && unseenServers(work.view, chosen.paths).length > 0
      ? decideWoken(work, chosen)
      : decide(work, chosen);
  }

  return (work) => {
    const { request, caller, context } = work;
    if (caller.endpoint.exposure.hasPins !== true || !isAboutTools(request)) return undefined;
    if (caller.session?.pinned !== undefined) return caller.session.pinned;
    const chosen = pins.of(context.principal);
    return chosen instanceof Promise ? chosen.then((known) => decideSoon(work, known)) : decideSoon(work, chosen);
  };
}

function isAboutTools({ method, params }: ClientRequest): boolean {
  return method === "tools/list" || (method === "tools/call" && !isMetaTool(String(params["name"])));
}
