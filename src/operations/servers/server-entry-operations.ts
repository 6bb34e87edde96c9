import * as z from "zod";
import { lookAtEntry, entryPatchChanges } from "../../config/edit/entry-patch.ts";
import { switchChanges, type EntryChange } from "../../config/entry/entry-change.ts";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toCachedText } from "../cached-text.ts";
import { order, outcome, requireLoginForPrograms, requireManager, requireVersion } from "../request/manager.ts";
import type { ConfigEntries, ConfigEntry } from "../request/management.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

const tag = "Servers and instances";
const params = z.object({ slug: schemas.name });

const serverEntry = z
  .object({
    slug: z.string(),
    key: z.string().describe("Its name in the file."),
    file: z.string(),
    entry: z.unknown().describe("As it is in the file, without secrets: `(hidden)` or `[redacted]` instead."),
    etag: z.string(),
    problem: schemas.nullableText.describe("Why the server is off; null where it is not."),
    warnings: z.array(z.string()).describe("What in it has no effect, with its line and column."),
  })
  .meta({ id: "ServerEntry" });

const entryPatch = schemas.json
  .describe("A merge patch (RFC 7396): null takes a member out, and what is not sent stays.")
  .meta({ id: "EntryPatch" });

const showEntry = operation({
  route: "GET /api/servers/{slug}/entry",
  right: gatewayAdmin,
  params,
  id: "showServerEntry",
  tag,
  summary: "What the configuration file says of a server, without secrets",
  responses: answers(serverEntry, "Its entry, with its entity tag.", [404]),
  async run(services, request) {
    const entries = await requireManager(services, request).entries();
    return toShownEntry(entries, requireEntry(entries, request.params.slug), services.redact);
  },
});

const changeEntry = operation({
  route: "PATCH /api/servers/{slug}",
  right: gatewayAdmin,
  params,
  id: "changeServer",
  tag,
  summary: "Change a server's entry in the configuration file",
  description:
    "Comments and layout stay, and so do secrets that are not sent, or sent back as they are shown. A change that " +
    "would make the entry wrong is refused. With `If-Match`, only the version of the entry that has this entity " +
    "tag is changed. The gateway applies it within a second.",
  headers: z.object({ "If-Match": z.string().optional() }),
  body: entryPatch,
  isBodyOpen: true,
  responses: answers(serverEntry, "The entry as it is now.", [404, 409, 413, 415]),
  async run(services, request) {
    const management = requireManager(services, request);
    requireLoginForPrograms(services, request);
    const { slug } = request.params;
    await order(services, request, "config.server.change", slug);
    const entries = await management.changeEntries((now) => {
      const entry = requireEntry(now, slug);
      requireVersion(request, etagOf(entry), `the entry of ${slug}`, { entry: entry.shown });
      return entryPatchChanges(entry, request.body, entry.shown);
    });
    return toShownEntry(entries, requireEntry(entries, slug), services.redact);
  },
});

const fileChanges = [
  { name: "enable", route: "POST /api/servers/{slug}/enable", summary: "Switch a server on in the configuration" },
  { name: "disable", route: "POST /api/servers/{slug}/disable", summary: "Switch a server off in the configuration" },
  { name: "remove", route: "DELETE /api/servers/{slug}", summary: "Take a server out of the configuration" },
] as const;

function changeFile({ name, route, summary }: (typeof fileChanges)[number]): Operation {
  return operation({
    route,
    right: gatewayAdmin,
    params,
    id: `${name}Server`,
    tag: "Clients and servers",
    summary,
    description: "Comments and layout of the file stay. The gateway applies it within a second.",
    responses: answers(outcome, "What came of it.", [404, 409, 415]),
    async run(services, request) {
      const management = requireManager(services, request);
      const { slug } = request.params;
      if (name === "enable") requireLoginForPrograms(services, request);
      await order(services, request, `config.server.${name}`, slug);
      let changes: readonly EntryChange[] = [];
      const { file, servers } = await management.changeEntries((now) => {
        const entry = requireEntry(now, slug);
        const { path } = entry;
        changes = name === "remove" ? [{ path, value: undefined }] : switchChanges(entry, name === "enable");
        return changes;
      });
      const changed = changes.length > 0;
      const said = {
        enable: changed ? "enabled" : "enabled already:",
        disable: changed ? "disabled" : "disabled already:",
      };
      const problem = name === "enable" ? servers.find((entry) => entry.slug === slug)?.problem : undefined;
      const still = problem === undefined ? "" : `, and it is still off: ${services.redact(problem)}`;
      const text =
        name === "remove"
          ? `removed ${slug} from ${file}; the copy beside it still has it`
          : `${said[name]} ${slug} in ${file}${still}`;
      return { ok: true, text, facts: [{ name: slug, file, changed }] };
    },
  });
}

/** Of the entry as it is written, so that another secret is another version. Shown in no form that tells the secret. */
function etagOf({ document, path }: ConfigEntry): string {
  return toCachedText(document.value(path)).etag;
}

/** Throws SERVER_UNKNOWN for a server that is not in the file. */
export function requireEntry({ servers, file }: ConfigEntries, slug: string): ConfigEntry {
  const found = servers.find((entry) => entry.slug === slug);
  if (found !== undefined) return found;
  throw new GatewayError("SERVER_UNKNOWN", `${file} has no server of this name`, {
    hint: "`toolyard servers` lists those that there are. What a team installed is changed at its installation.",
  });
}

function toShownEntry(
  { file }: ConfigEntries,
  entry: ConfigEntry,
  redact: (text: string) => string,
): z.output<typeof serverEntry> {
  const { slug, key, shown, problem } = entry;
  const { warnings } = lookAtEntry(entry);
  const answer: z.output<typeof serverEntry> = {
    slug,
    key,
    file,
    entry: shown,
    etag: etagOf(entry),
    problem: problem === undefined ? null : redact(problem),
    warnings: warnings.map(redact),
  };
  return answer;
}

/** The entries of servers in the configuration file. */
export const serverEntryOperations: readonly Operation[] = [
  showEntry,
  changeEntry,
  ...fileChanges.map((change) => changeFile(change)),
];
