import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An event as it comes out of the gateway. */
export interface WrittenEvent {
  readonly type: string;
  readonly time: string;
  readonly server: string | null;
  readonly instance: string | null;
  readonly installation: string | null;
  readonly principal: string | null;
  readonly team: string | null;
  readonly coalesced?: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly data: any;
}

export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly id: string;
  readonly dropped: number;
  readonly events: readonly WrittenEvent[];
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  /** Every request, also those that were not answered well. */
  readonly deliveries: readonly Delivery[];
  /** The events of deliveries that were accepted. */
  readonly events: readonly WrittenEvent[];
  /** What to do instead of accepting a delivery; undefined to accept it. */
  misbehave: ((response: ServerResponse) => void) | undefined;
}

export const webhookSecret = "a-secret-of-the-receiver";

/** A receiver that checks every signature as its documentation says. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = [];
  const events: WrittenEvent[] = [];
  const receiver = { misbehave: undefined as WebhookReceiver["misbehave"] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      if (!isSigned(String(request.headers["toolyard-signature"]), body)) {
        response.writeHead(401).end();
        return;
      }
      const delivery = {
        headers: request.headers,
        body,
        ...(JSON.parse(body) as Pick<Delivery, "id" | "dropped" | "events">),
      };
      deliveries.push(delivery);
      if (receiver.misbehave !== undefined) receiver.misbehave(response);
      else {
        events.push(...delivery.events);
        response.writeHead(204).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    deliveries,
    events,
    get misbehave() {
      return receiver.misbehave;
    },
    set misbehave(next) {
      receiver.misbehave = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isSigned(header: string, body: string): boolean {
  const [, seconds = "", signature = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  return signature === createHmac("sha256", webhookSecret).update(`${seconds}.${body}`).digest("hex");
}

/** The settings of a gateway that sends everything there. */
export function webhookSettings(receiver: Pick<WebhookReceiver, "url">, types?: readonly string[]): object {
  return {
    webhooks: [{ url: receiver.url, secret: webhookSecret, ...(types === undefined ? {} : { types }) }],
    webhookAddresses: ["127.0.0.1"],
  };
}
