import {
  fromSentFailure,
  GatewayError,
  toGatewayError,
  toSentFailure,
  type SentFailure,
} from "../../../kernel/failures/gateway-error.ts";
import { requireBuild } from "../../../kernel/runtime/late-module.ts";
import { runWorker, workerUrl } from "../../../kernel/runtime/run-worker.ts";
import { type Surroundings, findDataDirectory, readConfig } from "../surroundings/surroundings.ts";
import { checkClients, type ClientsAsk } from "../doctor/doctor-clients.ts";
import type { Finding } from "../doctor/doctor-finding.ts";
import { findClients, toClientLines, type ClientLine } from "../clients/client-lines.ts";
import { planConnection, type ConnectionAsk } from "../clients/connection-plan.ts";
import { findWantedTarget } from "../clients/connection-target.ts";
import { planDisconnection, planUndoing } from "../clients/disconnection-plan.ts";
import { importUnasked, type ImportAsk, type ImportFacts } from "../clients/import-facts.ts";
import type { ChangeFacts, PlannedChange } from "../clients/planned-change.ts";

/** How the file of a client is to be changed. */
interface ClientChange {
  readonly action: keyof typeof plans;
  /** Of the client. */
  readonly id: string;
  /** Names of the client's servers that are switched off there, of those that the gateway has as well. */
  readonly off: readonly string[] | "all";
  /** The profile that the client is to have. */
  readonly profile?: string | undefined;
  /** Whether it is written, and not only shown. */
  readonly isApplied: boolean;
}

const plans = {
  async connect(place, { id, off, profile }) {
    const chooseOff: ConnectionAsk["chooseOff"] = (_target, shared) =>
      shared.map(({ name }) => name).filter((name) => off === "all" || off.includes(name));
    const target = await findWantedTarget(place, { id });
    return await planConnection(place, await readConfig(place), target, { chooseOff, profile });
  },
  async disconnect(place, { id }) {
    return await planDisconnection(place, await readConfig(place), await findWantedTarget(place, { id }), {});
  },
  async undo(place, { id }) {
    return await planUndoing(place, await findWantedTarget(place, { id }));
  },
} satisfies Record<string, (place: Surroundings, change: ClientChange) => Promise<PlannedChange>>;

/**
 * What a gateway does with the files of AI clients. They can be of many megabytes, and are parsed, compared and written
 * in one go: `orderInThread` has it done in another thread. What goes in and comes out can be copied between threads.
 */
const clientOrders = {
  /** `connected`: the name that each session's program gives. */
  async list(place: Surroundings, connected: readonly (string | null)[]): Promise<readonly ClientLine[]> {
    const { dataDir } = await findDataDirectory(place);
    return await toClientLines(await findClients(place), { connected, dataDir });
  },

  async change(place: Surroundings, change: ClientChange): Promise<Required<ChangeFacts>> {
    const planned = await plans[change.action](place, change);
    const isDone = change.isApplied && planned.changes.length > 0;
    if (isDone) await planned.apply();
    const { client, file, outcome, changed, shared = [], changes, notes, reload } = planned.facts(isDone);
    return { client, file, outcome, changed, shared, changes, notes, reload };
  },

  async import(place: Surroundings, asked: ImportAsk): Promise<ImportFacts> {
    return await importUnasked(place, asked);
  },

  /** It is ended with its thread. */
  async check(place: Surroundings, asked: Omit<ClientsAsk, "place" | "signal">): Promise<readonly Finding[]> {
    return await checkClients({ ...asked, place, signal: new AbortController().signal });
  },
};

type Orders = typeof clientOrders;
type Input<Name extends keyof Orders> = Parameters<Orders[Name]>[1];
type Output<Name extends keyof Orders> = Awaited<ReturnType<Orders[Name]>>;

interface ClientOrder {
  readonly name: keyof Orders;
  readonly place: Surroundings;
  readonly input: unknown;
}

/** What the thread is given. */
export type SentClientOrder = ClientOrder & { readonly buildId: string };

/** What it answers. */
export type ClientAnswer = { readonly value: unknown } | { readonly failure: SentFailure };

const timeoutMs = 120_000;

/**
 * Has one of `clientOrders` done in a thread, which ends with it. Rejects as that one does, with the signal's reason,
 * and with INTERNAL where the thread fails. Without a signal it is not ended in the middle: for what writes files.
 */
export async function orderInThread<Name extends keyof Orders>(
  name: Name,
  place: Surroundings,
  input: Input<Name>,
  signal?: AbortSignal,
): Promise<Output<Name>> {
  const answer = (await runWorker({
    file: workerUrl(import.meta.url, "client-worker"),
    data: { name, place: { ...place, env: { ...place.env } }, input } satisfies ClientOrder,
    ...{ timeoutMs, name: "what reads the files of AI clients" },
    ...(signal === undefined ? {} : { signal }),
    toError: (why, cause) => new GatewayError("INTERNAL", `reading the files of AI clients ${why}`, { cause }),
  })) as ClientAnswer;
  if ("failure" in answer) throw fromSentFailure(answer.failure);
  return answer.value as Output<Name>;
}

/** Does what `orderInThread` sent, in that thread. Never rejects. */
export async function answerClientOrder({ name, place, input, buildId }: SentClientOrder): Promise<ClientAnswer> {
  try {
    requireBuild(buildId);
    const order = clientOrders[name] as (place: Surroundings, input: unknown) => Promise<unknown>;
    return { value: await order(place, input) };
  } catch (error) {
    return { failure: toSentFailure(toGatewayError(error)) };
  }
}
