// One client tried beside a crowd: as it comes, and with what its user has to allow. Its row of docs/clients.json.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { connectClient } from "./connect-client.mjs";
import { clientTimeoutMs } from "./installed-client.mjs";
import { findProblems, observeClient } from "./observe-client.mjs";
import { startScriptedModel } from "./scripted-model.mjs";
import { callTool, findAndCall, readResource } from "./steps.mjs";
import { log, note, startSurroundings } from "./surroundings.mjs";
import { tryInTeam } from "./team-trial.mjs";
import { toTranscripts } from "./transcript.mjs";
import { howAsked, howLong, howMuch, notOffered, whetherCalled } from "./verdicts.mjs";

const find = findAndCall("read the text of a file", { path: note.path });
const truth = { toolPath: "files:read_text_file", executed: note.text, resource: "bad://text of bad-server" };
/** On a busy machine a client asks its model before it is connected. */
const attempts = 2;

/**
 * @param {import("./client-rows.mjs").Client} client
 * @param {{ directory: string, waitMs: number, asIs: object,
 *   install: (client: import("./client-rows.mjs").Client) => Promise<{ version: string, command: string }>,
 *   onOutput: (chunk: Buffer) => void }} options `asIs` are profiles that change nothing
 * @returns {Promise<import("../docs/clients-page.mjs").SeenClient>}
 */
export async function tryClient(client, { directory, waitMs, asIs, install, onOutput }) {
  const { name, package: packageName, needs, setup, allow } = client;
  const told = { name, package: packageName, setup, ...(needs && { needs }), ...(allow && { allow: allow.told }) };
  const place = join(directory, name.replaceAll(/\W+/g, "-").toLowerCase());
  await mkdir(place, { recursive: true });
  try {
    const { version, command } = await install(client);
    const observe = async (which, options) =>
      await observeInCrowd({ client, command, directory: join(place, which), onOutput, ...options });
    const without = await observe("without", { steps: [], profiles: asIs, isAllowed: true });
    const byDefault = await observe("default", { steps: find });
    const steps = [
      ...find,
      ...readResource("toolyard", "text"),
      callTool("ask", "bad:elicit", {}),
      callTool("large", "files:read_text_file", { path: log.path }),
      callTool("wait", "bad:slow", { ms: waitMs }),
    ];
    const allowed = await observe("allowed", { steps, isAllowed: true, timeoutMs: waitMs + clientTimeoutMs });
    const team = client.team && (await tryInTeam({ client, command, directory: join(place, "team"), onOutput }));
    return {
      ...{ ...told, version, tried: new Date().toISOString().slice(0, 10), ...whatItIs(allowed) },
      ...{ offered: byDefault.offered, offeredWithout: without.offered, behind: byDefault.behind },
      ...(allow?.also === "offered" && { offeredAllowed: allowed.offered }),
      ...{ called: whetherCalled(byDefault, note.text), waited: howLong(allowed, waitMs), asked: howAsked(allowed) },
      reached: howMuch(allowed, log),
      problems: [
        ...(allow?.also === "offered" ? [] : notOffered(byDefault)),
        ...findProblems(allowed, truth),
        ...(team?.failure === undefined ? [] : [`with a login, ${team.failure}`]),
      ],
      ...(team && { team }),
      ...(client.transcript && { transcripts: toTranscripts({ byDefault, allowed, client }) }),
    };
  } catch (error) {
    return { ...told, version: null, ...nothing, problems: [`could not be tried: ${error.stack}`] };
  }
}

const nothing = {
  ...{ clientName: null, revision: null, api: [], own: [], others: 0, offered: [], offeredWithout: [], behind: [] },
  ...{ called: null, waited: null, asked: null, reached: null },
};

const whatItIs = ({ clientName, revision, api, own, others }) => ({ clientName, revision, api, own, others });

/** Until it offers our tools, or has not done so in any of its {@link attempts}. */
async function observeInCrowd({ directory, steps, profiles, isAllowed = false, ...run }) {
  for (let attempt = 1; ; attempt += 1) {
    const place = `${directory}-${attempt}`;
    const { front, servers, configFile, close } = await startSurroundings({ directory: place, profiles });
    const model = await startScriptedModel(steps);
    try {
      const connect = async (env) => await connectClient(run.client, { url: front.url, configFile, env });
      const home = join(place, "home");
      const observation = await observeClient({ ...run, home, front, model, servers, isAllowed, connect });
      if (observation.offered.length > 0 || attempt === attempts) return observation;
    } finally {
      model.close();
      await close();
    }
  }
}
