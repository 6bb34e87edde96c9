import type { FlowRule } from "../../config/rows/tool-rows.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import type { ContentLabel, ToolEffect } from "../../kernel/call/tool-effects.ts";
import { askerOf, clientNameOf } from "../../kernel/client-presence.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";

/** Where and when a client read last what has the label. */
interface LastRead {
  readonly server: string;
  readonly atMs: number;
}

type ClientLabels = Map<ContentLabel, LastRead>;

/** A label that a client has. */
export interface FlowLabel extends LastRead {
  readonly label: ContentLabel;
  readonly principal: string;
  readonly client: string;
}

/** What clients have read, each of one principal: nothing of it ever counts for another. */
export interface FlowLabels {
  note(context: CallContext, labels: readonly ContentLabel[], server: string): void;
  /** What a call of this client is told of by the rules: those that apply, with where and when it was read. */
  applying(
    context: CallContext,
    effect: ToolEffect,
    rules: readonly FlowRule[],
  ): readonly (readonly [FlowRule, because: string])[];
  /** The labels that count, of all principals. */
  all(): readonly FlowLabel[];
  /** Forgets those of the principals that `isTheirs` is true of. Returns how many there were. */
  clear(isTheirs: (principal: string) => boolean): number;
}

const lastsMs = 1_800_000;
/** Of one principal; the one that read longest ago makes room. */
const mostClients = 100;
const mostPrincipals = 10_000;

interface Client {
  readonly name: string;
  readonly labels: ClientLabels;
}

/**
 * In memory, for 30 minutes after the last read. A client is its session, or where it has none, the name that it gives
 * itself; a new session has read nothing.
 */
export function createFlowLabels(clock: Pick<Clock, "now">): FlowLabels {
  const people = new Map<string, Map<string, Client>>();

  const isOver = ({ atMs }: LastRead): boolean => atMs <= clock.now() - lastsMs;

  function labelsOf(context: CallContext): ClientLabels | undefined {
    return people.get(context.principal.id)?.get(askerOf(context))?.labels;
  }

  return {
    note(context, labels, server) {
      const { id } = context.principal;
      const clients = people.get(id) ?? new Map<string, Client>();
      const key = askerOf(context);
      const client = clients.get(key) ?? { name: clientNameOf(context) ?? context.via, labels: new Map() };
      for (const label of labels) client.labels.set(label, { server, atMs: clock.now() });
      putLast(clients, key, client, mostClients);
      putLast(people, id, clients, mostPrincipals);
    },
    applying(context, effect, rules) {
      const labels = labelsOf(context);
      if (labels === undefined) return [];
      return rules.flatMap((rule) => {
        const read = labels.get(rule.after);
        if (read === undefined || isOver(read) || !rule.effects.includes(effect)) return [];
        return [[rule, `after reading from ${read.server}, ${agoText(clock.now() - read.atMs)}`] as const];
      });
    },
    all: () =>
      [...people].flatMap(([principal, clients]) =>
        [...clients.values()].flatMap(({ name: client, labels }) =>
          [...labels].flatMap(([label, read]) => (isOver(read) ? [] : [{ ...read, label, principal, client }])),
        ),
      ),
    clear(isTheirs) {
      const theirs = [...people].filter(([principal]) => isTheirs(principal));
      const all = theirs.flatMap(([, clients]) => [...clients.values()].flatMap(({ labels }) => [...labels.values()]));
      for (const [principal] of theirs) people.delete(principal);
      return all.filter((read) => !isOver(read)).length;
    },
  };
}

/** Puts it behind all others, the first of which leaves where there are too many. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value ?? "");
}

function agoText(ms: number): string {
  return ms < 60_000 ? "less than a minute ago" : `${Math.floor(ms / 60_000)} min ago`;
}
