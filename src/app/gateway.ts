import type { Activity } from "../operations/services.ts";
import {
  readActivity,
  readListedBy,
  readOverview,
  type ListedBy,
  type Overview,
  type OverviewAsk,
} from "./records/status-report.ts";
import type { Readable, Writable } from "node:stream";
import type { Config, ServerConfig } from "../config/config.ts";
import { serveStdio } from "../front/mcp/transports/stdio.ts";
import type { EventBus } from "../kernel/events/event-bus.ts";
import type { Instance } from "../servers/instance/instance.ts";
import { buildParts } from "./gateway-parts.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { createHttpFront, type HttpFront, type HttpFrontOptions } from "./owner/http-front.ts";
import { createInProcess, type InProcess } from "./embedded/in-process.ts";

/** A gateway, as those see it who run one: commands, embedders and tests. What it is made of stays in `app`. */
export interface Gateway extends AsyncDisposable {
  /** The configuration in force. */
  readonly config: () => Config;
  /** Brings everything in line with a configuration; the first call starts what has to be started. */
  apply(config: Config): Promise<void>;
  /**
   * Until this is called no server is started: a client that waited for the gateway is answered before they take the
   * machine.
   */
  letServersStart(): void;
  /** Servers that wait to be started. */
  readonly waitingStarts: number;
  /** Every instance of a server, also those that are off. */
  instances(): readonly Pick<
    Instance,
    "id" | "server" | "owner" | "state" | "connection" | "stderr" | "settled" | "statusView"
  >[];
  /** What its owner sees of it now. Tokens are estimates until they are counted. */
  overview(ask?: OverviewAsk): Promise<Overview>;
  /** What a screen shows of it that is drawn again and again. */
  glance(): Promise<Activity>;
  /** Who asked for the list of tools since it was started, oldest first. */
  listedBy(): readonly ListedBy[];
  /** What to do about a server that asks for roots and is given none; undefined where there is nothing to do. */
  rootsHint(server: ServerConfig): string | undefined;
  /** Requests of clients: how many run, and how many there have been. */
  readonly requests: { readonly running: number; readonly total: number };
  readonly events: EventBus;
  /** Whether no authentication is required. */
  readonly isOpen: boolean;
  /** Tokens of logins in use, which no log may show. */
  readonly secrets: () => ReadonlySet<string>;
  /** Searches and calls of the program that it runs in, as its owner. */
  readonly inProcess: InProcess;
  /** The gateway over HTTP; with the owner's door where somebody opens it. */
  openHttp(options?: HttpFrontOptions): HttpFront;
  /** The path and fragment of a link that logs a browser in at the dashboard: once, within five minutes. */
  dashboardLink(): string;
  /**
   * The path and fragment of a link that makes the first admin, once and within the hour; undefined where there is
   * somebody already, or no people are kept.
   */
  setupLink(): Promise<string | undefined>;
  /**
   * MCP at `/mcp` on a pair of streams, as its owner. Resolves when the client has disconnected and its requests are
   * answered.
   */
  serveStdio(streams: { readonly input: Readable; readonly output: Writable }, path?: string): Promise<void>;
  /** Ends everything: servers get as long as they are configured to, but no longer than until the signal aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Builds a gateway; nothing of it runs before `apply`. */
export function buildGateway(config: Config, deps: GatewayDeps): Gateway {
  const parts = buildParts(config, deps);
  const { running } = parts.mcp.parts;
  return {
    config: parts.config,
    apply: parts.apply,
    letServersStart: parts.letServersStart,
    get waitingStarts() {
      return parts.waitingStarts;
    },
    instances: () => parts.fleet.all(),
    overview: async (ask) => await readOverview(parts, ask),
    glance: async () => await readActivity(parts),
    listedBy: () => readListedBy(parts),
    rootsHint: parts.rootsHint,
    requests: {
      get running() {
        return running.size;
      },
      get total() {
        return running.total;
      },
    },
    events: parts.events,
    get isOpen() {
      return parts.authenticator.open;
    },
    secrets: parts.secrets,
    inProcess: createInProcess(parts),
    openHttp: (options) => createHttpFront(parts, options),
    dashboardLink: parts.dashboardLink,
    async setupLink() {
      const people = parts.team?.people();
      if (people === undefined || people.directory.book.users.size > 0) return undefined;
      return `/setup#${(await people.access.accounts.createLink(undefined, "owner")).code}`;
    },
    async serveStdio(streams, path = "/mcp") {
      const endpoint = parts.mcp.endpointOf(path);
      if (endpoint === undefined) return;
      await serveStdio({
        ...streams,
        endpoint,
        principal: parts.mcp.enter(parts.owner, endpoint),
        parts: parts.mcp.parts,
        limits: config.settings.limits,
      });
    },
    stop: parts.stop,
    [Symbol.asyncDispose]: parts[Symbol.asyncDispose],
  };
}
