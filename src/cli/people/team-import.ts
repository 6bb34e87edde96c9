import { resolve } from "node:path";
import { parseDocument, type Document } from "../../config/file/document.ts";
import { readConfigText } from "../../config/file/file.ts";
import { findServers, type ServerPlace } from "../../config/file/source.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { addInstallation } from "../../operations/installations/installation-operations.ts";
import type { listSecrets, putSecret, removeSecret } from "../../operations/installations/secret-operations.ts";
import type { addTemplate, removeTemplate } from "../../operations/installations/template-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, listOption } from "../../config/given.ts";
import { openGatewayClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { installationsOf, templatesOf } from "./team-lists.ts";
import { planServers, type KnownOfTeam, type PlannedServer } from "./team-import-plan.ts";
import { askYes, canAsk } from "../terminal/yes-or-no.ts";

/** `toolyard team import TEAM --file FILE`: a template of the team and an installation for each server of a file. */
export async function importTeam(context: CommandContext, team: string, file: string): Promise<number> {
  const gateway = await openGatewayClient(context);
  const known = await readKnown({ gateway, team }, context);
  const path = resolve(context.cwd, file);
  const document = parseDocument(await readConfigText(path), path);
  const wanted = wantedServers(document, listOption(context, "only"));
  const plans = planServers(
    wanted.map(({ key, path: place }) => ({ key, written: document.value(place) })),
    known,
  );
  const fresh = plans.filter(({ leftOut }) => leftOut === undefined);
  const isJson = isOn(context, "json");
  if (!isJson) for (const plan of plans) process.stdout.write(`${toLine(plan)}\n`);
  const isAgreed = fresh.length > 0 && !isOn(context, "dry-run") && (await agree(context, fresh.length, team));
  const done = isAgreed ? await installAll({ gateway, team }, fresh) : [];
  const isWhole = done.every(({ failed }) => failed === undefined);
  if (isJson) process.stdout.write(`${JSON.stringify({ ok: isWhole, plan: plans.map(toJson), done })}\n`);
  else for (const { name, failed } of done) process.stdout.write(`${name}: ${failed ?? "installed"}\n`);
  if (!isWhole) return 1;
  return isAgreed || fresh.length === 0 || isOn(context, "dry-run") ? 0 : 2;
}

/** Throws CONFIG_INVALID for a name that the file does not have: a slip must not look like nothing to do. */
function wantedServers(document: Document, only: readonly string[]): readonly ServerPlace[] {
  const found = findServers(document);
  const unknown = only.filter((name) => !found.some(({ key }) => key === name));
  if (unknown.length > 0)
    throw new GatewayError("CONFIG_INVALID", `the file has no server ${plainText(unknown.join(", "))}`, {
      hint: "Write names of `--only` as the file has them.",
    });
  return found.filter(({ key }) => only.length === 0 || only.includes(key));
}

interface OfTeam {
  readonly gateway: GatewayClient;
  readonly team: string;
}

async function readKnown({ gateway, team }: OfTeam, { env }: CommandContext): Promise<KnownOfTeam> {
  const installations = await installationsOf(gateway, team);
  const templates = await templatesOf(gateway, team);
  const params = { team };
  const { secrets } = await gateway.ask<typeof listSecrets>("GET /api/teams/{team}/secrets", { params });
  const ofFile = templates.filter(({ source }) => source === "file");
  const taken = new Map<string, string>();
  for (const { slug } of templates.filter(({ team }) => team !== null))
    taken.set(slug, "the team has a template of this name");
  for (const name of ofFile.flatMap(({ id, slug }) => [id.replace(/^file:/, ""), slug.toLowerCase()]))
    taken.set(name, "everybody has a server of this name: it is in the configuration file");
  for (const { slug } of installations) taken.set(slug, "the team has a server of this name");
  const ofTeam = secrets.filter(({ server }) => server === null);
  return { taken, secrets: new Set(ofTeam.map(({ name }) => name)), env };
}

interface Done {
  readonly name: string;
  readonly failed?: string;
}

/** One after the other; what fails leaves the others alone. */
async function installAll(ofTeam: OfTeam, plans: readonly PlannedServer[]): Promise<readonly Done[]> {
  const written = new Set<string>();
  const done: Done[] = [];
  for (const plan of plans) {
    const failed = await installOne(ofTeam, plan, written);
    done.push(failed === undefined ? { name: plan.name } : { name: plan.name, failed: plainText(failed) });
  }
  return done;
}

/**
 * Why it failed; what it had made is taken away again then. `written` has the secrets that servers before it made and
 * use, too.
 */
async function installOne(
  ofTeam: OfTeam,
  { name, entry, secrets }: PlannedServer,
  written: Set<string>,
): Promise<string | undefined> {
  const fresh = [...secrets].filter(([secret]) => !written.has(secret));
  const made: string[] = [];
  let template: string | undefined;
  const { gateway, team } = ofTeam;
  try {
    const body = { slug: name, team, entry: { ...entry }, fields: [] };
    template = (await gateway.ask<typeof addTemplate>("POST /api/templates", { body })).id;
    for (const [secret, value] of fresh) {
      const given = { params: { team, secret }, body: { value } };
      await gateway.ask<typeof putSecret>("PUT /api/teams/{team}/secrets/{secret}", given);
      made.push(secret);
    }
    const given = { params: { team }, body: { template: name } };
    await gateway.ask<typeof addInstallation>("POST /api/teams/{team}/installations", given);
    for (const secret of made) written.add(secret);
    return undefined;
  } catch (error) {
    return toGatewayError(error).message + (await takeAway(ofTeam, template, made));
  }
}

/** What has to be added to the reason of a failure: nothing, unless something stays. */
async function takeAway(
  { gateway, team }: OfTeam,
  template: string | undefined,
  secrets: readonly string[],
): Promise<string> {
  try {
    // First, because it is refused where the server was installed after all, which then needs its secrets.
    if (template !== undefined)
      await gateway.ask<typeof removeTemplate>("DELETE /api/templates/{template}", { params: { template } });
    for (const secret of secrets) {
      const params = { team, secret };
      await gateway.ask<typeof removeSecret>("DELETE /api/teams/{team}/secrets/{secret}", { params });
    }
    return "";
  } catch (error) {
    return `; its template or its secrets are still there: ${toGatewayError(error).message}`;
  }
}

async function agree(context: CommandContext, count: number, team: string): Promise<boolean> {
  if (isOn(context, "yes")) return true;
  if (!canAsk() || isOn(context, "json")) {
    process.stderr.write("toolyard: nothing was changed: look at it, and repeat it with --yes\n");
    return false;
  }
  return await askYes(`Install ${count} ${count === 1 ? "server" : "servers"} for ${team}?`);
}

function toLine({ key, name, leftOut, entry, secrets, kept, missing }: PlannedServer): string {
  if (leftOut !== undefined) return ` = ${plainText(key)}  left out: ${leftOut}`;
  const { command, url } = entry;
  const what = typeof command === "string" ? command : typeof url === "string" ? url : "";
  const called = name === key ? name : `${name} (${key})`;
  const list = (title: string, names: readonly string[]) =>
    names.length === 0 ? "" : `  ${title}: ${names.join(", ")}`;
  const made = list("secrets", [...secrets.keys()]);
  const stay = list("secrets that the team has already, and keeps", kept);
  const open = list("to be set with `toolyard secret set`", missing);
  return ` + ${plainText(`${called}  ${what}${made}${stay}${open}`)}`;
}

function toJson({ key, name, leftOut, secrets, kept, missing }: PlannedServer) {
  return { key, name, leftOut: leftOut ?? null, secrets: [...secrets.keys()], kept, missing };
}
