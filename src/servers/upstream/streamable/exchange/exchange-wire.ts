import type { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import type { TapLine } from "../../../../kernel/events/message-tap.ts";
import type { HttpClient } from "../../../../wire/http/http-client.ts";
import type { HttpTuning } from "../../../../wire/http/tuning.ts";
import type { ConnectionLimits, LoginHeaders } from "../../connect.ts";
import type { BackPressure } from "../../messages/back-pressure.ts";
import type { ServerAddress } from "../server-address.ts";

export type Authorize = (refused: LoginHeaders | undefined) => Promise<LoginHeaders | undefined>;

/** What one exchange needs of the wire that it runs over. */
export interface ExchangeWire {
  readonly client: HttpClient;
  readonly address: ServerAddress;
  /** The path to use instead of `path`, if the server has redirected requests from there. */
  pathFor(path: string): string;
  /** Remembers that requests to `path` are redirected to another one. */
  notePath(path: string, moved: string): void;
  readonly limits: ConnectionLimits;
  readonly tap: TapLine | undefined;
  readonly tuning: HttpTuning;
  /** One for all streams of the server, however many calls it has. */
  readonly strays: BackPressure;
  /** Headers of a login; of those that were refused, concurrent refreshes are one. */
  readonly authorize: Authorize | undefined;
  /** Whether a body of that size may join those that wait for a socket; if so it is counted until `releaseQueued`. */
  admitQueued(bytes: number): boolean;
  releaseQueued(bytes: number): void;
  /** Bytes went or came. */
  touch(): void;
  enter(exchange: LiveExchange): void;
  leave(exchange: LiveExchange): void;
  /** No connection could be made, however often it was tried. */
  onUnreachable(error: GatewayError): void;
}

/** An exchange that is under way, as the wire knows it: disposed of, it disconnects them all. */
export interface LiveExchange {
  readonly id: number;
  disconnect(): void;
}
