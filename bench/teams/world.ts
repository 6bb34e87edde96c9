import { createHash, hkdfSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomId } from "../../src/kernel/ids.ts";
import type { MembershipRow, PatRow, PeopleRows, TeamRow, UserRow } from "../../src/store/people-rows.ts";
import type { InstallationRow, InstallRows, TemplateRow } from "../../src/store/install-rows.ts";
import { runCommand } from "../../test/harness/command.ts";
import { startGateway, type RunningGateway } from "../../test/harness/gateway.ts";
import { placesIn } from "../../test/harness/places.ts";
import { createTestStore, whenOpened } from "../../test/harness/records.ts";

const teams = 500;
const membersPerTeam = 20;
const serversPerTeam = 100;

/** The server behind every call, of which each person has a process. */
export const echoServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../../bench/servers/echo.mjs", import.meta.url))],
};

/** A person of a team may make 200 calls a second; one who is alone, as many as there can be. */
export const noLimits = { toolyard: { limits: { callsPerSecond: 100_000, concurrentCalls: 64 } } };

/** 10,000 people in 500 teams, which installed 50,000 servers. */
export interface World {
  readonly people: PeopleRows;
  readonly installs: Pick<InstallRows, "templates" | "installations">;
  /** One of each person. */
  readonly tokens: readonly string[];
}

/** Makes the first admin, in an empty data directory, and resolves to the admin's token. */
export async function makeAdmin(directory: string): Promise<string> {
  const gateway = await startTeam(directory);
  try {
    const where = ["--config", gateway.configFile, "--data-dir", join(directory, "data"), "--json"];
    const { stdout } = await runCommand(["user", "add", "boss", "--admin", "--team", "team-0", ...where]);
    return (JSON.parse(stdout) as { made: { token: string } }).made.token;
  } finally {
    await gateway.stop();
  }
}

export async function startTeam(directory: string, main?: string): Promise<RunningGateway> {
  return await startGateway({
    directory,
    config: { mcpServers: {}, ...noLimits },
    args: ["--team"],
    ...(main !== undefined && { main }),
  });
}

export function makeWorld(): World {
  const now = Date.now();
  const about = { createdAtMs: now, revision: 1 };
  const found: TeamRow[] = Array.from({ length: teams }, (_, at) => ({
    ...{ id: randomId("t_"), slug: `many-${at}`, title: `Many ${at}`, limits: {}, ...about },
  }));
  const template: TemplateRow = {
    ...{ id: randomId("tp_"), teamId: null, slug: "tool", source: "own", transport: "stdio" },
    ...{ entry: JSON.stringify(echoServer), fields: '[{"path":"env.REGION"}]', version: 1 },
    ...{ revision: 1, byAdmin: true, changedBy: "owner", createdAtMs: now },
  };
  const installations = found.flatMap(({ id: teamId }): InstallationRow[] =>
    Array.from({ length: serversPerTeam }, (_, at) => ({
      ...{ id: randomId("i_"), teamId, templateId: template.id, templateVersion: 1, slug: `tool-${at}` },
      ...{ name: `tool ${at}`, scope: "user", config: '{"env.REGION":"eu"}', locks: "[]", settings: "{}" },
      // Switched off, but for one that is called: what it costs to start servers is measured elsewhere.
      ...{ enabled: teamId === found[0]?.id && at === 0, revision: 1, changedBy: "owner", createdAtMs: now },
    })),
  );
  return { ...makePeople(found, about), installs: { templates: [template], installations } };
}

function makePeople(
  found: readonly TeamRow[],
  about: { readonly createdAtMs: number; readonly revision: number },
): Pick<World, "people" | "tokens"> {
  const [users, memberships, pats, tokens]: [UserRow[], MembershipRow[], PatRow[], string[]] = [[], [], [], []];
  for (const { id: teamId, slug } of found)
    for (let at = 0; at < membersPerTeam; at += 1) {
      const [userId, membershipId, token] = [randomId("u_"), randomId("m_"), randomId("ty_pat_")];
      users.push({ id: userId, name: `${slug}-${at}`, role: "user", status: "active", ...about });
      memberships.push({ id: membershipId, teamId, userId, role: "member", ...about });
      const times = { createdAtMs: about.createdAtMs, expiresAtMs: about.createdAtMs + 86_400_000, usedAtMs: null };
      const limits = { scopes: [], only: null };
      pats.push({ id: randomId("p_"), membershipId, name: "", hash: hashOf(token), ...times, ...limits });
      tokens.push(token);
    }
  return { people: { users, memberships, pats, invites: [], teams: found }, tokens };
}

/** Writes everything into the database of a gateway that is not running. */
export async function writeWorld(directory: string, { people, installs }: World): Promise<void> {
  const data = join(directory, "data");
  const key = Buffer.from((await readFile(join(data, "vault.key"), "utf8")).trim(), "base64");
  const auditKey = new Uint8Array(hkdfSync("sha256", key, "", "toolyard audit", 32));
  const store = await whenOpened(createTestStore(placesIn(data)[0] ?? "", { auditKey }));
  const who = { actor: "bench", via: "bench", team: null, object: "", outcome: "ok" as const, ip: null, detail: "{}" };
  const about = (what: string) => ({ atMs: Date.now(), action: `bench.${what}`, ...who });
  await store.people.change(people, about("people"));
  await store.installs.change({ templates: installs.templates }, about("templates"));
  // As many at once as the database's thread has room for.
  for (let at = 0; at < installs.installations.length; at += 1_000)
    await store.installs.change({ installations: installs.installations.slice(at, at + 1_000) }, about("installs"));
  await store.close(60_000);
}

export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
