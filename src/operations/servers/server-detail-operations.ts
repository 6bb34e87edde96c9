import * as z from "zod";
import { describeSandbox } from "../../config/entry/sandbox-entry.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { gatewayAdmin, reading } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { requireManager } from "../request/manager.ts";
import { describeLearning } from "../../servers/sandbox/learned-names.ts";
import { learningSchema } from "./sandbox-operations.ts";
import type { Services } from "../services.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

const tag = "Servers and instances";
const params = z.object({ slug: schemas.name });

const sandboxFacts = z.object({
  reaches: z.array(z.string()).describe("What it may reach, one sentence each."),
  learning: learningSchema.nullable().describe("The hosts that it reached, as far as they are or were noted."),
  unconfinedWhy: schemas.nullableText.describe("Why it runs without one all the same."),
  denied: z
    .array(
      z.object({
        host: z.string(),
        port: z.int().nullable(),
        why: z.string(),
        allowedBy: schemas.nullableText.describe("What would allow it in `sandbox.network`; null where nothing would."),
        at: z.string(),
      }),
    )
    .describe("Hosts that it was kept from, the newest last."),
});

const serverDetails = z
  .object({
    slug: z.string(),
    displayName: z.string(),
    namespace: z.string(),
    instance: z.string(),
    status: z.string(),
    isKnown: z.boolean().describe("Whether it was ever connected: otherwise the following members are unknown."),
    name: schemas.nullableText.describe("What the server calls itself."),
    title: schemas.nullableText,
    version: schemas.nullableText,
    icon: schemas.nullableText.describe("Its first icon, where that is an image within a `data:` URI."),
    eras: z.array(z.enum(["legacy", "modern"])).describe("Of the protocol, that it speaks."),
    capabilities: schemas.json,
    instructions: schemas.nullableText,
    offers: z
      .object({ tools: z.int(), resources: z.int(), templates: z.int(), prompts: z.int(), skills: z.int() })
      .describe("All that it offers."),
    shownTools: z.int().describe("Those that the rules let the caller see."),
    handshake: z
      .array(z.object({ step: z.string(), why: z.string() }))
      .describe("What failed of the handshake of its last start, in order."),
    replicas: z
      .array(
        z.object({
          name: z.string().describe("`replica 2`, or the number and host of an address."),
          isUp: z.boolean(),
          pid: z.int().nullable(),
          inFlight: z.int().describe("Calls that it has not answered yet."),
          breaker: z.enum(["closed", "open", "half-open"]).describe("`open`: it gets no calls."),
          why: schemas.nullableText.describe("Why it gets no calls, or only one to try it."),
        }),
      )
      .describe("Its processes or addresses, where it has several or a breaker, while it is connected."),
    oddities: schemas.oddities,
    sandbox: sandboxFacts.nullable().describe("Null where it is not confined."),
  })
  .meta({ id: "ServerDetails" });

/** Nothing is loaded from elsewhere to show a server. */
function dataIcon(icons: unknown): string | null {
  for (const icon of Array.isArray(icons) ? (icons as readonly unknown[]) : []) {
    const src = isJsonObject(icon) ? icon["src"] : undefined;
    if (typeof src === "string" && src.length < mostIconCharacters && dataImage.test(src)) return src;
  }
  return null;
}

const mostIconCharacters = 65_536;
const dataImage = /^data:image\/(?:png|jpeg|webp|gif|svg\+xml)[;,]/;

const serverSettings = z
  .object({
    file: schemas.nullableText,
    values: z.array(
      z.object({
        path: z.string().describe("Within the server's entry: `command`, `env.TOKEN`."),
        value: z.unknown().describe("Secrets are hidden."),
        origin: z.string().describe("`file:line:column`, a flag, a variable, or `default`."),
      }),
    ),
  })
  .meta({ id: "ServerSettings" });

export const showServer = operation({
  route: "GET /api/servers/{slug}",
  right: reading,
  params,
  id: "showServer",
  tag,
  summary: "One server: what it says of itself, and what it offers",
  responses: answers(serverDetails, "The server, as the caller sees it.", [404]),
  async run(services, { principal, params: { slug } }) {
    const server = services.viewOf(principal).server(slug);
    if (server === undefined)
      throw new GatewayError("SERVER_UNKNOWN", "there is no such server", {
        hint: "`toolyard status` and GET /api/servers list yours.",
      });
    const { catalog } = server;
    const instance = services.instancesOf(principal).find(({ id }) => id === server.instance);
    const isOwn = services.isOpen() || principal.roles.includes("admin") || instance?.owner === principal.id;
    const told = (name: string): string | null => {
      const value = catalog?.serverInfo[name];
      return typeof value === "string" ? services.redact(value) : null;
    };
    return {
      slug: server.slug,
      displayName: server.title,
      namespace: server.namespace,
      instance: server.instance,
      status: server.status,
      isKnown: catalog !== undefined,
      name: told("name"),
      title: told("title"),
      version: told("version"),
      icon: dataIcon(catalog?.serverInfo["icons"]),
      eras: catalog?.eras ?? [],
      capabilities: JSON.parse(services.redactJson(catalog?.capabilities ?? {})) as unknown,
      instructions: catalog?.instructions === undefined ? null : services.redact(catalog.instructions),
      offers: {
        tools: catalog?.tools.length ?? 0,
        resources: catalog?.resources.length ?? 0,
        templates: catalog?.templates.length ?? 0,
        prompts: catalog?.prompts.length ?? 0,
        skills: catalog?.skills.length ?? 0,
      },
      shownTools: server.tools.length,
      handshake: (instance?.handshake ?? []).map(({ step, why }) => ({ step, why: services.redact(why) })),
      replicas: (instance?.connection?.replicas?.all() ?? []).map(({ pid, why, ...facts }) => ({
        ...facts,
        pid: isOwn ? (pid ?? null) : null,
        why: why === undefined ? null : services.redact(why),
      })),
      oddities: instance?.oddities.sentences().map(services.redact) ?? [],
      sandbox: instance === undefined ? null : await toSandboxFacts(services, instance),
    };
  },
});

async function toSandboxFacts(
  { sandboxes, clock }: Pick<Services, "sandboxes" | "clock">,
  { server: { transport, installed, slug }, confinement }: Instance,
): Promise<z.infer<typeof sandboxFacts> | null> {
  if (!hasProcess(transport) || transport.sandbox === undefined) return null;
  const learning = installed === undefined ? (await sandboxes.learned()).of(slug) : undefined;
  return {
    learning: learning === undefined ? null : describeLearning(learning, clock.now()),
    reaches: [...describeSandbox(transport.sandbox)],
    unconfinedWhy: confinement.unconfinedWhy ?? null,
    denied: confinement.denied.map(({ host, port, why, allowedBy, atMs }) => ({
      host,
      port: port ?? null,
      why,
      allowedBy: allowedBy ?? null,
      at: new Date(atMs).toISOString(),
    })),
  };
}

/** As `toolyard config show --origins` says it. */
const showServerSettings = operation({
  route: "GET /api/servers/{slug}/settings",
  right: gatewayAdmin,
  params,
  id: "showServerSettings",
  tag,
  summary: "The settings of a server that are in force, and where each comes from",
  responses: answers(serverSettings, "Its settings, without secrets."),
  async run(services, request) {
    const management = requireManager(services, request);
    const { file } = await management.read();
    const start = `servers.${request.params.slug}.`;
    const own = (await management.values())
      .filter(({ path }) => path.startsWith(start))
      .map(({ path, value, origin }) => ({ path: path.slice(start.length), value, origin }));
    return { file, values: own };
  },
});

/** One server, as it describes itself, and where its settings come from. */
export const serverDetailOperations: readonly Operation[] = [showServer, showServerSettings];
