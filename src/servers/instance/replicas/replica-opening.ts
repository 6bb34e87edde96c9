import type { InstanceSettings, ServerConfig } from "../../../config/config.ts";
import { addressesOf, hasProcess } from "../../../config/entry/transports.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { OpenConnection, Opened, OpenOptions } from "../instance-deps.ts";
import type { listenForChanges } from "../lists/listening.ts";
import type { exitOf, isCleanEnd, toClosedCause } from "../starts/closed-cause.ts";
import type { startLimits, withStartDeadline } from "../starts/opening.ts";
import type { createCrashCount } from "../starts/recovery.ts";
import type { StartTurns } from "../starts/start-turns.ts";

/** What all replicas of a server share. */
export interface ReplicaDeps {
  readonly open: OpenConnection;
  readonly clock: Clock;
  readonly starts: StartTurns;
  readonly settings: () => InstanceSettings;
  readonly rules: InstanceRules;
}

/**
 * How an instance starts, listens and recovers, which each of its replicas does as well. Given, because a late module
 * that imports them divides the files of every start into more.
 */
export interface InstanceRules {
  readonly listenForChanges: typeof listenForChanges;
  readonly startLimits: typeof startLimits;
  readonly withStartDeadline: typeof withStartDeadline;
  readonly toClosedCause: typeof toClosedCause;
  readonly isCleanEnd: typeof isCleanEnd;
  readonly exitOf: typeof exitOf;
  readonly createCrashCount: typeof createCrashCount;
}

/** What one replica connects to. */
export interface ReplicaPlace {
  readonly name: string;
  /** With the address of this one. */
  readonly server: ServerConfig;
  readonly instance: InstanceId;
  readonly options: OpenOptions;
}

/** Where replicas are wanted. Names tell no paths, which may have a secret. */
export function placesOf(server: ServerConfig): readonly (Pick<ReplicaPlace, "name" | "server"> & { key: string })[] {
  const { transport, replicas } = server;
  const numbers = Array.from({ length: replicas }, (_, at) => at + 1);
  if (hasProcess(transport) || transport.urls === undefined)
    return numbers.map((at) => ({ key: String(at), name: replicas === 1 ? "the server" : `replica ${at}`, server }));
  return addressesOf(transport).flatMap((url, index) => {
    const address = `address ${index + 1} (${new URL(url).host})`;
    const own = { ...server, transport: { ...transport, url } };
    return numbers.map((at) => {
      const name = replicas === 1 ? address : `${address}, connection ${at}`;
      return { key: `${index} ${at}`, name, server: own };
    });
  });
}

interface OpeningOptions extends ReplicaDeps {
  readonly signal: AbortSignal;
  readonly wasUp: boolean;
  readonly onStderr: (line: string) => void;
  /** The last lines that were given to it. */
  readonly stderr: () => readonly string[];
}

/** Connects to one, with a deadline of its own: another one may be up long before. */
export async function openOne(
  { name, server, instance, options }: ReplicaPlace,
  { open, clock, settings, signal, wasUp, onStderr, stderr, rules }: OpeningOptions,
): Promise<Opened> {
  const events = {
    ...options.events,
    onStderr(line: string): void {
      onStderr(line);
      options.events.onStderr(server.replicas > 1 ? `${name}: ${line}` : line);
    },
  };
  const limits = rules.startLimits(server, wasUp, settings());
  const deadline = { server: server.slug, limits, clock, stderr };
  return await rules.withStartDeadline(deadline, signal, async (limited, noteWork) => {
    const onWork = (): void => {
      noteWork();
      options.onWork();
    };
    return await open(server, instance, { ...options, events, onWork }, limited);
  });
}
