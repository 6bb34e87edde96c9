import type { AddressInfo } from "node:net";
import { isListed, loopback, toBlockList } from "../../kernel/text/host-addresses.ts";
import { createConnectionRoom } from "../../front/http/guards/body-room.ts";
import { createHttpServer, type HttpServer } from "../../front/http/http-server.ts";
import { refuse } from "../../front/mcp/answers/replies.ts";
import { createOriginRules } from "../../front/http/guards/origin.ts";
import { createPeerCheck, linuxTables } from "../../front/http/guards/peer-user.ts";
import { abortAfter, sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toReason, unusableStore } from "../../records/store-standing.ts";
import { toDenial } from "../people/watched-access.ts";
import { showFrontPage } from "../fronts/front-page-facts.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import type { Start } from "../fronts/management-wiring.ts";
import { createOwner, type Owner, type OwnerOptions } from "./owner.ts";

/** The gateway over HTTP. */
export interface HttpFront {
  /** For requests that another server accepted. */
  readonly handle: HttpServer["handle"];
  listen(host: string, port: number): Promise<AddressInfo>;
  /**
   * Says that it is leaving and serves on for `noticeMs`; then accepts nothing new, and waits for running calls for
   * `instances.drainTimeoutMs`. Hurries as soon as the signal aborts.
   */
  drain(hurried: AbortSignal): Promise<void>;
  close(): void;
  /** Undefined where there is no door for one. */
  readonly owner: Owner | undefined;
}

export interface HttpFrontOptions {
  /** What the door of the data directory's owner needs; without it there is none. */
  readonly owner?: Pick<OwnerOptions, "secret" | "stop"> | undefined;
  /** Undefined where the configuration cannot be changed over REST. */
  readonly start?: Start | undefined;
}

const drainCheckMs = 50;

/** Descriptors are few: a process has some thousands, and each server takes four. */
const connections = { ofAll: 10_000, ofOne: 1_000 };

function isShared(gateway: GatewayParts, address: string): boolean {
  const { trustedProxies = [] } = gateway.config().settings;
  return isListed(loopback, address) || isListed(toBlockList(trustedProxies), address);
}

/** Builds the gateway's HTTP front: MCP, REST, health, metrics and the pages for people. Does not listen yet. */
export function createHttpFront(
  gateway: GatewayParts,
  { owner: ownerOptions, start }: HttpFrontOptions = {},
): HttpFront {
  let originRules = createOriginRules(gateway.config().settings);
  gateway.events.on(["config.changed"], () => {
    originRules = createOriginRules(gateway.config().settings);
  });
  const loadFront = async () =>
    await gateway.late.load("the REST API", async () => await import("../fronts/rest-front.ts"));
  const owner =
    ownerOptions &&
    createOwner({ ...ownerOptions, gateway, rest: (request, response) => server.rest(request, response) });
  const draining = new AbortController();
  const server: HttpServer = createHttpServer({
    mcp: { endpointOf: gateway.mcp.endpointOf, cardAt: gateway.mcp.cardAt, handle: gateway.mcp.http, refuse },
    frontPage: async (request, response) => await showFrontPage(gateway, request, response),
    async loadRest() {
      const { loadRest, openBrowsers } = await loadFront();
      const isOwner = owner?.isOwner ?? (() => false);
      const { signal } = draining;
      return loadRest(gateway, { isOwner, browsers: await openBrowsers(gateway), draining: signal, start });
    },
    loadDashboard: async () => (await loadFront()).loadDashboard(gateway),
    people:
      gateway.team === undefined
        ? undefined
        : {
            owns: isPeoplePath,
            load: async () => {
              const load = async () => await import("../people/people-front.ts");
              const { loadPeopleFront } = await gateway.late.load("the pages for people", load);
              return await loadPeopleFront(gateway);
            },
          },
    authenticator: gateway.authenticator,
    authenticateInstance: gateway.instanceTokens.authenticate,
    originRules: () => originRules,
    checkPeer: createPeerCheck({
      tables: linuxTables(),
      ownUid: process.platform === "linux" ? process.getuid?.() : undefined,
      isOpen: () => gateway.authenticator.open && !gateway.config().settings.auth.insecure,
      trustedProxies: () => gateway.config().settings.trustedProxies ?? [],
    }),
    publicUrl: gateway.publicUrl,
    bodyTimeoutMs: gateway.config().settings.limits.bodyTimeoutMs,
    room: createConnectionRoom({ ...connections, isShared: (address) => isShared(gateway, address) }),
    readiness() {
      const problems = gateway.records.problems();
      return {
        unready: unusableStore(problems) ?? gateway.unready() ?? gateway.servers.cluster?.unready,
        unrecorded: toReason(problems),
      };
    },
    onConnect: owner?.onConnect,
    onDenied: (request, failure) => gateway.audit.deny(toDenial(request, failure)),
    log: gateway.log,
  });
  return {
    owner,
    handle: server.handle,
    listen: server.listen,
    async drain(hurried) {
      const { noticeMs, instances } = gateway.config().settings;
      server.leave();
      // Clients are still served meanwhile, by the nodes that servers move to.
      const moving = gateway.servers.cluster?.drain(abortAfter(noticeMs + instances.drainTimeoutMs, hurried));
      if (noticeMs > 0) await sleep(noticeMs, hurried).catch(() => undefined);
      const signal = abortAfter(instances.drainTimeoutMs, hurried);
      server.drain();
      draining.abort();
      gateway.mcp.endParked(() => new GatewayError("DRAINING", "the gateway is stopping"));
      while (!signal.aborted && gateway.performer.inFlight + gateway.mcp.parts.running.size > 0)
        await new Promise((resolve) => setTimeout(resolve, drainCheckMs));
      await moving;
    },
    close: server.close,
  };
}

/** Whether a path is one of people's pages, or of OAuth; everything else is not asked here. */
function isPeoplePath(path: string): boolean {
  return (
    path.startsWith("/auth/") ||
    path.startsWith("/oauth/") ||
    path.startsWith("/connect/") ||
    path.startsWith("/invite/") ||
    path === "/setup" ||
    path === "/account" ||
    path === "/connect" ||
    path.startsWith("/.well-known/oauth-authorization-server") ||
    path.startsWith("/.well-known/openid-configuration")
  );
}
