import * as z from "zod";
import { noRule, toolRuleChanges, type ToolRule } from "../../config/entry/tool-rule.ts";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { phraseLengthLimit, phraseLimit } from "../../kernel/call/tool-phrases.ts";
import { toCachedText } from "../cached-text.ts";
import { order, requireManager, requireVersion } from "../request/manager.ts";
import type { ConfigEntry, ConfigEntries } from "../request/management.ts";
import { answers } from "../responses.ts";
import { requireEntry } from "../servers/server-entry-operations.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import type { Services } from "../services.ts";
import { resolveTool } from "../../catalog/exposure/text/tool-lookup.ts";
import { noArguments } from "../../kernel/call/call-context.ts";

const tag = "Tools and resources";
const params = z.object({
  path: schemas.name.describe("`server:tool`; for a tool that is hidden, with the server's own name for it."),
});
const text = z.string().trim().min(1).max(10_000);

/** Absent members are as without a rule. */
const givenRule = z
  .object({
    access: z
      .enum(["allow", "deny"])
      .nullable()
      .default(null)
      .describe(
        "`deny` hides it; `allow` names it where the entry lists what is offered; null: not hidden by its name.",
      ),
    asks: z
      .enum(["always", "never"])
      .nullable()
      .default(null)
      .describe("Whether its calls wait for a person's yes; null: as its effect says (`policy.ask`)."),
    name: text.max(200).nullable().default(null).describe("Instead of its own."),
    description: text.nullable().default(null).describe("Instead of its own."),
    phrases: z
      .array(text.max(phraseLengthLimit))
      .max(phraseLimit)
      .nullable()
      .default(null)
      .describe("What people say when they need it; an empty list silences those of the server."),
  })
  .meta({ id: "GivenToolRule" });

const toolRule = z
  .object({
    server: z.string(),
    tool: z.string().describe("The server's own name for it; a pattern where it is the rule of a list for many."),
    access: z.enum(["allow", "deny"]).nullable(),
    asks: z.enum(["always", "never"]).nullable(),
    name: schemas.nullableText,
    description: schemas.nullableText,
    phrases: z.array(z.string()).nullable(),
    isOffered: z.boolean().describe("What all rules of the entry together come to."),
    hiddenBy: z
      .array(z.object({ list: z.string(), pattern: schemas.nullableText }))
      .describe("Lists of the entry that hide it, each with its pattern; null: the list leaves it out."),
    etag: z.string(),
  })
  .meta({ id: "ToolRule" });

const ruleList = z.object({ file: z.string(), rules: z.array(toolRule) }).meta({ id: "ToolRuleList" });

/** Absent members stay as they are. */
const ruleChange = z.object(
  Object.fromEntries(Object.entries(givenRule.shape).map(([name, schema]) => [name, schema.unwrap().optional()])) as {
    readonly [Name in keyof typeof givenRule.shape]: z.ZodOptional<
      ReturnType<(typeof givenRule.shape)[Name]["unwrap"]>
    >;
  },
);
const mostChanges = 1_000;
const ruleChanges = z
  .object({ rules: z.record(z.string().max(4_096), ruleChange).describe("By path; at most 1,000.") })
  .meta({ id: "ToolRuleChanges" });

const listRules = operation({
  route: "GET /api/tool-rules",
  right: gatewayAdmin,
  id: "listToolRules",
  tag,
  summary: "Every rule for a tool in the configuration file",
  responses: answers(ruleList, "All of them, in the order of the file."),
  async run(services, request) {
    const { file, servers } = await requireManager(services, request).entries();
    const rules = servers.flatMap((entry) => entry.rules.tools.map((tool) => toShown(entry, tool)));
    return { file, rules };
  },
});

const changeRules = operation({
  route: "PATCH /api/tool-rules",
  right: gatewayAdmin,
  id: "changeToolRules",
  tag,
  summary: "Change the rules of several tools at once",
  description: "What is not sent stays, and null takes it out. Either all of them are changed, or none.",
  body: ruleChanges,
  responses: answers(ruleList, "The rules of these tools as they are now.", [404, 409, 413, 415]),
  async run(services, request) {
    const management = requireManager(services, request);
    const changes = Object.entries(request.body.rules);
    if (changes.length > mostChanges)
      throw new GatewayError("PARAMS_INVALID", `body.rules: at most ${mostChanges} tools at once`);
    await order(
      services,
      request,
      "config.tool.change",
      changes
        .map(([path]) => path)
        .join(" ")
        .slice(0, 1_000),
    );
    const places = await placesOf(
      services,
      request,
      changes.map(([path]) => path),
    );
    const found: Ruled[] = [];
    const now = await management.changeEntries((entries) => {
      const bySlug = new Map<string, Map<string, ToolRule>>();
      for (const [at, [path, change]] of changes.entries()) {
        const ruled = requireRuled(entries, places[at] as ToolPlace, path);
        found[at] = ruled;
        const rules = bySlug.get(ruled.slug) ?? new Map<string, ToolRule>();
        const sent = Object.entries(change).filter(([, value]) => value !== undefined);
        // Two paths may mean the same tool.
        const before = rules.get(ruled.tool) ?? requireEntry(entries, ruled.slug).rules.of(ruled.tool);
        bySlug.set(ruled.slug, rules.set(ruled.tool, { ...before, ...Object.fromEntries(sent) }));
      }
      return [...bySlug].flatMap(([slug, rules]) => toolRuleChanges(requireEntry(entries, slug), rules));
    });
    const rules = found.map(({ slug, tool }) => toShown(requireEntry(now, slug), tool));
    return { file: now.file, rules };
  },
});

const about = "One that is hidden, or is not offered any more, is named by the server's own name for it.";
const versions =
  "With `If-Match`, only the version of the rule that has this entity tag is changed; otherwise the answer is " +
  "409 with the rule as it is. The gateway applies it within a second.";

const showRule = operation({
  route: "GET /api/tools/{path}/rule",
  right: gatewayAdmin,
  params,
  id: "showToolRule",
  tag,
  summary: "What the configuration file says of a tool",
  description: about,
  responses: answers(toolRule, "Its rule, with its entity tag.", [404, 409]),
  async run(services, request) {
    const { path } = request.params;
    const entries = await requireManager(services, request).entries();
    const [place] = await placesOf(services, request, [path]);
    const { slug, tool } = requireRuled(entries, place as ToolPlace, path);
    return toShown(requireEntry(entries, slug), tool);
  },
});

const setRule = operation({
  route: "PUT /api/tools/{path}/rule",
  right: gatewayAdmin,
  params,
  id: "setToolRule",
  tag,
  summary: "Allow, hide, rename or describe a tool in the configuration file, or have it ask first",
  description: `What is not given is as without a rule. ${versions}`,
  headers: z.object({ "If-Match": z.string().optional() }),
  body: givenRule,
  responses: answers(toolRule, "The rule as it is now.", [404, 409, 413, 415]),
  run: async (services, request) => await writeRule(services, request, request.body),
});

const removeRule = operation({
  route: "DELETE /api/tools/{path}/rule",
  right: gatewayAdmin,
  params,
  id: "removeToolRule",
  tag,
  summary: "Take everything out of the configuration file that is said of this tool alone",
  description: `Patterns for several tools stay, unless the path is one. ${versions}`,
  headers: z.object({ "If-Match": z.string().optional() }),
  responses: answers(toolRule, "What is left: rules for several tools that fit it.", [404, 409, 415]),
  run: async (services, request) => await writeRule(services, request, noRule),
});

async function writeRule(services: Services, request: OperationRequest<z.output<typeof params>>, rule: ToolRule) {
  const management = requireManager(services, request);
  const { path } = request.params;
  await order(services, request, "config.tool.change", path);
  const [place] = await placesOf(services, request, [path]);
  let found: Ruled | undefined;
  const now = await management.changeEntries((entries) => {
    found = requireRuled(entries, place as ToolPlace, path);
    const { slug, tool } = found;
    const entry = requireEntry(entries, slug);
    const { etag, ...current } = toShown(entry, tool);
    requireVersion(request, etag, `the rule for ${path}`, current);
    return toolRuleChanges(entry, new Map([[tool, rule]]));
  });
  const { slug, tool } = found as Ruled;
  return toShown(requireEntry(now, slug), tool);
}

function toShown(entry: ConfigEntry, tool: string): z.output<typeof toolRule> {
  const rule = entry.rules.of(tool);
  const hidden = entry.rules.hiddenBy(tool);
  const { etag } = toCachedText(rule);
  const phrases = rule.phrases === null ? null : [...rule.phrases];
  return { server: entry.slug, tool, ...rule, phrases, isOffered: hidden.length === 0, hiddenBy: [...hidden], etag };
}

/** What the configuration file says of single tools. */
export const toolRuleOperations: readonly Operation[] = [listRules, changeRules, showRule, setRule, removeRule];

/** A tool by the slug of its server and the server's own name. */
interface Ruled {
  readonly slug: string;
  readonly tool: string;
}

/** What a path may mean to the caller. */
interface ToolPlace {
  /** The tool that the caller sees under this name, in any spelling. */
  readonly shown: Ruled | undefined;
  /** Whether a server offers a tool of this name of its own. */
  readonly isOffered: (ruled: Ruled) => boolean;
}

/** What each of these paths may mean. Throws TOOL_AMBIGUOUS for a name that several tools have. */
async function placesOf(
  services: Services,
  { principal }: Pick<OperationRequest, "principal">,
  paths: readonly string[],
): Promise<readonly ToolPlace[]> {
  const view = services.viewOf(principal);
  const places: ToolPlace[] = [];
  for (const path of paths) {
    for (const listing of ["flat", "namespaced"] as const) await services.namesInTurns(view, listing, path);
    places.push({
      shown: shownTool(view, path),
      isOffered: ({ slug, tool }) =>
        view.server(slug)?.catalog?.tools.some(({ upstreamName }) => upstreamName === tool) === true,
    });
  }
  return places;
}

function shownTool(view: ReturnType<Services["viewOf"]>, path: string): Ruled | undefined {
  try {
    const { tool } = resolveTool(view, path, noArguments);
    return { slug: tool.server, tool: tool.upstreamName };
  } catch (error) {
    if (toGatewayError(error).code === "TOOL_AMBIGUOUS") throw error;
    return undefined;
  }
}

/**
 * The tool that a path means: one that is seen, or one of a server of the file that is hidden, or has a rule there.
 * Throws TOOL_UNKNOWN, and TOOL_AMBIGUOUS where a hidden tool has a name that another one was given.
 */
function requireRuled({ servers }: ConfigEntries, { shown, isOffered }: ToolPlace, path: string): Ruled {
  const owner = servers.find(({ slug }) => path.startsWith(`${slug}:`));
  const named = owner && { slug: owner.slug, tool: path.slice(owner.slug.length + 1) };
  const own =
    named !== undefined && owner !== undefined && (isOffered(named) || owner.rules.tools.includes(named.tool));
  if (shown === undefined && own) return named;
  if (shown === undefined)
    throw new GatewayError("TOOL_UNKNOWN", `there is no tool ${JSON.stringify(path.slice(0, 200))}`, {
      hint:
        "List the tools to see what exists; one that is hidden is `server:tool`, with the " +
        "server's own name for it.",
    });
  if (own && (named.slug !== shown.slug || named.tool !== shown.tool) && isOffered(named))
    throw new GatewayError(
      "TOOL_AMBIGUOUS",
      `${path} is ${shown.slug}'s ${shown.tool} by its new name, and the own name of another one`,
      { hint: "Give one of them a name of its own in the configuration file." },
    );
  return shown;
}
