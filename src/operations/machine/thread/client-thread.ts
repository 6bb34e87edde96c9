import {
  fromSentFailure,
  GatewayError,
  toGatewayError,
  toSentFailure,
  type SentFailure,
} from "../../../kernel/failures/gateway-error.ts";
import { requireBuild } from "../../../kernel/runtime/late-module.ts";
import { runWorker, workerUrl } from "../../../kernel/runtime/run-worker.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";
import { clientOrders } from "./client-orders.ts";

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
