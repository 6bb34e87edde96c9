import type { ServerConfig, ServerOverrides } from "../../config/config.ts";
import { textsToHide, transportSecrets } from "../../config/secrets.ts";
import { nameOf, partOf, type TierField, type TierValues } from "../../config/people/tier-fields.ts";
import { mayGive, mergeTiers, type MergedServer, type TieredServer } from "../../config/people/tiers.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { SecretRow, SecretUse } from "../../store/install-rows.ts";
import type { InstallIndex, SecretOwner } from "./install-index.ts";
import { createTieredServers, fieldsOfFile, filePrefix, type TieredServersDeps } from "./tiered-servers.ts";
import type { Vault } from "./vault.ts";

/** A server of a team as it runs for somebody. */
export interface RunnableServer {
  readonly server: ServerConfig;
  readonly missing: readonly string[];
  /** What to do about it, in one sentence. */
  readonly advice: string | undefined;
}

/** What teams installed, as servers. */
export interface InstalledServers {
  /**
   * In the order of their installation; the same array until one of them changes. Plain texts of secrets are not in it.
   */
  of(teamId: string): readonly ServerConfig[];
  /** Undefined where it is no longer installed. */
  tiered(installationId: string): TieredServer | undefined;
  /** For one member, or for all of the team (null). Secrets are opened here. */
  runnable(installationId: string, membershipId: string | null): RunnableServer | undefined;
  /** The same without opening anything: the missing fields, and those that are left out. */
  merged(installationId: string, membershipId: string | null): MergedServer | undefined;
  /** What a member set for a server of the configuration file; undefined where that is nothing. */
  ownValues(key: string, member: { readonly id: string; readonly teamId: string }): ServerOverrides | undefined;
  /** Texts that no log may show. Another set whenever there are others. */
  secrets(): ReadonlySet<string>;
  /** Secrets that reached a server for the first time in an hour, since the last call. */
  takeUses(): readonly SecretUse[];
  /** Something of these installations changed. */
  forget(installations: Iterable<string>, teams: Iterable<string>): void;
  /** The configuration changed: its servers are templates, too. */
  forgetAll(): void;
}

export interface InstalledServersDeps extends TieredServersDeps {
  readonly vault: Pick<Vault, "open">;
  readonly now: () => number;
  readonly book: InstallIndex;
  /** The page where a member gives values of their own. */
  readonly valuesPage: (server: ServerConfig, membershipId: string) => string;
}

const noServers: readonly ServerConfig[] = Object.freeze([]);

export function createInstalledServers(deps: InstalledServersDeps): InstalledServers {
  const { book } = deps;
  const tiereds = createTieredServers(deps);
  const tiered = tiereds.of;
  const ofTeam = new Map<string, readonly ServerConfig[]>();
  const usage = createSecretUsage(deps);

  const running = createRunning(deps, tiered, usage);

  return {
    of(teamId) {
      const known = ofTeam.get(teamId);
      if (known !== undefined) return known;
      const servers = book.ofTeam(teamId).flatMap(({ id }) => tiered(id)?.server ?? []);
      const made = servers.length === 0 ? noServers : Object.freeze(servers);
      ofTeam.set(teamId, made);
      return made;
    },
    tiered,
    runnable: running.runnable,
    merged: running.merged,
    ownValues: createOwnValues(deps, usage),
    secrets: usage.secrets,
    takeUses: usage.take,
    forget(installations, teams) {
      for (const id of installations) {
        tiereds.forget(id);
        if (!book.installations.has(id)) usage.forget(id);
      }
      for (const team of teams) ofTeam.delete(team);
    },
    forgetAll() {
      tiereds.forgetAll();
      ofTeam.clear();
    },
  };
}

/** What installations become with their values. */
function createRunning(
  { book, valuesPage }: Pick<InstalledServersDeps, "book" | "valuesPage">,
  tiered: (id: string) => TieredServer | undefined,
  usage: ReturnType<typeof createSecretUsage>,
) {
  function merge(id: string, membershipId: string | null, open: (row: SecretRow) => string): MergedServer | undefined {
    const row = book.installations.get(id);
    const found = tiered(id);
    if (row === undefined || found === undefined) return undefined;
    const { teamId } = row;
    const values = (config: string, owner: SecretOwner): TierValues => ({
      ...(JSON.parse(config) as TierValues),
      ...Object.fromEntries(book.secretsOf(owner).map((secret) => [secret.field, open(secret)])),
    });
    const own = membershipId === null ? undefined : book.personal(id, membershipId);
    const ofTeam = book.secretsOf({ teamId, installationId: null, membershipId: null });
    return mergeTiers(found, {
      team: values(row.config, { teamId, installationId: id, membershipId: null }),
      user:
        membershipId === null || found.server.scope === "shared"
          ? undefined
          : values(own?.config ?? "{}", { teamId, installationId: id, membershipId }),
      secret(name) {
        const secret = ofTeam.find(({ field }) => field === name);
        return secret && open(secret);
      },
    });
  }

  function runnable(id: string, membershipId: string | null): RunnableServer | undefined {
    const found = tiered(id);
    if (found === undefined) return undefined;
    try {
      const opened: string[] = [];
      const merged = merge(id, membershipId, (row) => {
        const text = usage.open(row);
        opened.push(text);
        return text;
      });
      if (merged === undefined) return undefined;
      const secrets = [...opened, ...transportSecrets(merged.server.transport)].flatMap(textsToHide);
      usage.note(`${id}\0${membershipId ?? ""}`, secrets);
      const page = membershipId === null ? "" : valuesPage(merged.server, membershipId);
      return { server: merged.server, missing: merged.missing.map(({ path }) => path), advice: toAdvice(merged, page) };
    } catch (error) {
      const { message } = toGatewayError(error);
      return { server: { ...found.server, disabledReason: message }, missing: [], advice: undefined };
    }
  }

  return {
    runnable,
    merged: (id: string, membershipId: string | null) => merge(id, membershipId, () => "set"),
  };
}

/** What members set for servers of the configuration file. */
function createOwnValues(
  { book, config }: Pick<InstalledServersDeps, "book" | "config">,
  usage: ReturnType<typeof createSecretUsage>,
): InstalledServers["ownValues"] {
  function fieldsOf(key: string): readonly TierField[] {
    const server = config().servers.find((one) => one.key === key);
    return server === undefined ? [] : fieldsOfFile(server);
  }

  /** What cannot be opened counts as missing. */
  function tryOpen(row: SecretRow): string | undefined {
    try {
      return usage.open(row);
    } catch {
      return undefined;
    }
  }

  return (key, { id, teamId }) => {
    const installationId = filePrefix + key;
    const written = book.personal(installationId, id)?.config;
    const sealed = book.secretsOf({ teamId, installationId, membershipId: id });
    if (written === undefined && sealed.length === 0) return undefined;
    const opened = sealed.map((row) => [row.field, tryOpen(row)] as const);
    usage.note(
      `${installationId}\0${id}`,
      opened.flatMap(([, text]) => textsToHide(text)),
    );
    const known = opened.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
    const values = { ...(JSON.parse(written ?? "{}") as TierValues), ...Object.fromEntries(known) };
    // What the file does not name any more counts for nothing.
    const fields = fieldsOf(key);
    const permitted = Object.entries(values).filter(([path]) => mayGive({ fields, locks: [] }, "user", path));
    return toOverrides(Object.fromEntries(permitted));
  };
}

function toOverrides(values: TierValues): ServerOverrides {
  const part = (wanted: string) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([path, value]) =>
        partOf(path) === wanted && typeof value === "string" ? [[nameOf(path), value] as const] : [],
      ),
    );
  const { args } = values;
  return { ...(typeof args === "object" ? { args } : {}), env: part("env"), headers: part("headers") };
}

function toAdvice({ server, missing }: MergedServer, page: string): string | undefined {
  const ask = (tier: string, whose: string, how: string): string[] => {
    const paths = missing.filter((value) => value.tier === tier).map(({ path }) => path);
    return paths.length === 0 ? [] : [`${paths.join(", ")} ${whose}: ${how}`];
  };
  const path = `/api/teams/${server.installed?.team ?? ""}/installations/${server.slug}/config`;
  const secretsMissing = missing.filter(({ path }) => path.startsWith("secret:")).map(({ path }) => path.slice(7));
  const lines = [
    ...ask("user", "has to come from you", `open ${page} in a browser, or PATCH ${path}/me`),
    ...ask("team", "has to come from an admin of the team", `PATCH ${path}/team`),
    ...ask("template", "has to come from whoever made the template", "ask an admin of the gateway"),
    ...secretsMissing.map(
      (name) =>
        `an admin of the team gives the secret ${name}: PUT /api/teams/${server.installed?.team ?? ""}/secrets/${name}`,
    ),
  ];
  return lines.length === 0 ? undefined : lines.join("; ");
}

const hourMs = 3_600_000;

/** Which secrets are in servers now, and when each of them last was put into one. */
function createSecretUsage({ vault, book, now }: InstalledServersDeps) {
  const uses = new Map<string, SecretUse>();
  const texts = new Map<string, readonly string[]>();
  let all: ReadonlySet<string> | undefined = new Set();
  return {
    open(row: SecretRow): string {
      const text = vault.open(row);
      const usedAtMs = now() - (now() % hourMs);
      if (row.usedAtMs !== usedAtMs) {
        book.noteUse(row.id, usedAtMs);
        uses.set(row.id, { id: row.id, usedAtMs });
      }
      return text;
    },
    note(key: string, secrets: readonly string[]): void {
      const before = texts.get(key);
      if (before?.length === secrets.length && before.every((text, at) => text === secrets[at])) return;
      // Those of before may still be in a process that is just stopping: they stay until its installation is removed.
      texts.set(key, [...new Set([...(before ?? []).slice(-mostKept), ...secrets])]);
      all = undefined;
    },
    forget(installationId: string): void {
      for (const key of texts.keys()) if (key.startsWith(`${installationId}\0`)) texts.delete(key);
    },
    secrets: (): ReadonlySet<string> => (all ??= new Set([...texts.values()].flat())),
    take(): readonly SecretUse[] {
      const taken = [...uses.values()];
      uses.clear();
      return taken;
    },
  };
}

/** Earlier values of one instance: a person who changes them more often within its stop tries something out. */
const mostKept = 20;
