// Writes the pages of docs/ that are made from tables in src/ and test/, so that they cannot drift. Node 20 runs no
// TypeScript, so the table is bundled first.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { faultGroups } from "../test/faults/faults.mjs";
import { sections } from "../test/protocol/requirements.mjs";
import { bundledTable } from "./docs/bundled-table.mjs";
import { cliPage } from "./docs/cli-page.mjs";
import { clientFilesTable } from "./docs/client-files-table.mjs";
import { clientsPage } from "./docs/clients-page.mjs";
import { clientsTranscriptPage } from "./docs/clients-transcript-page.mjs";
import { configurationPage } from "./docs/configuration-page.mjs";
import { connectionsTable } from "./docs/connections-table.mjs";
import { wings } from "./house.mjs";
import { errorsPage } from "./docs/errors-page.mjs";
import { eventsPage } from "./docs/events-page.mjs";
import { faultsPage, heldFaults } from "./docs/faults-page.mjs";
import { exposureRows } from "./docs/exposure-table.mjs";
import { houseTable, roomsTable } from "./docs/house-table.mjs";
import { heldBy, protocolPage } from "./docs/protocol-page.mjs";
import { quickStartPage } from "./docs/quick-start-page.mjs";
import { serversTriedPage } from "./docs/servers-tried-page.mjs";
import { statefulPage } from "./docs/stateful-page.mjs";
import { groupTitles, testTitles } from "./docs/test-titles.mjs";

const root = new URL("../", import.meta.url);

export async function writeDocs() {
  fillTable("ARCHITECTURE.md", "house", houseTable(wings));
  for (const wing of wings.filter(({ rooms }) => rooms !== undefined))
    fillTable(`docs/architecture/${wing.name}.md`, "rooms", roomsTable(wing));
  const { exposures } = await bundledTable("src/config/rows/exposures.ts");
  fillTable("docs/design.md", "exposures", exposureRows(exposures));
  const { failures } = await bundledTable("src/kernel/failures/failures.ts");
  const { statefulServers, fileServers } = await bundledTable("src/config/entry/stateful-servers.ts");
  const { serverTimes } = await bundledTable("src/config/rows/instance-rows.ts");
  writeFileSync(new URL("docs/errors.md", root), errorsPage(failures));
  const titles = testTitles(fileURLToPath(root));
  writeFileSync(new URL("docs/protocol.md", root), protocolPage(heldBy(sections, titles)));
  const groups = groupTitles(fileURLToPath(root));
  writeFileSync(new URL("docs/faults.md", root), faultsPage(heldFaults(faultGroups, [...titles, ...groups])));
  const { idleTimeoutMs, statefulIdleTimeoutMs } = serverTimes;
  writeFileSync(
    new URL("docs/stateful-servers.md", root),
    statefulPage(
      { groups: statefulServers, fileGroups: fileServers },
      {
        idleTimeoutMs: idleTimeoutMs.fallback,
        statefulIdleTimeoutMs: statefulIdleTimeoutMs.fallback,
      },
    ),
  );
  const { clientProfiles } = await bundledTable("src/config/rows/client-profiles.ts");
  const { clientTable } = await bundledTable("src/config/clients/table/client-table.ts");
  const { toOwnEntry } = await bundledTable("src/config/clients/connect/own-entry.ts");
  writeFileSync(new URL("docs/quick-start.md", root), quickStartPage(clientTable, toOwnEntry));
  fillTable("docs/import.md", "clients", clientFilesTable(clientTable));
  fillTable("docs/connect.md", "clients", connectionsTable(clientTable));
  const settings = await bundledTable("src/config/settings/settings-table.ts");
  const fields = await bundledTable("src/config/entry/server-fields.ts");
  writeFileSync(new URL("docs/configuration.md", root), configurationPage(settings, fields));
  const { configurationSchema } = await bundledTable("src/config/settings/config-schema.ts");
  const schema = configurationSchema();
  writeFileSync(new URL("docs/toolyard.schema.json", root), `${JSON.stringify(schema, undefined, 2)}\n`);
  writeFileSync(new URL("docs/cli.md", root), cliPage(await bundledTable("src/cli/commands.ts"), settings));
  const { publishedEvents } = await bundledTable("src/kernel/events/published-events.ts");
  writeFileSync(new URL("docs/events.md", root), eventsPage(publishedEvents));
  const seen = JSON.parse(readFileSync(new URL("docs/clients.json", root), "utf8"));
  writeFileSync(new URL("docs/clients.md", root), clientsPage(clientProfiles, seen));
  writeFileSync(new URL("docs/clients-transcript.md", root), clientsTranscriptPage(seen));
  const tried = JSON.parse(readFileSync(new URL("docs/servers-tried.json", root), "utf8"));
  writeFileSync(new URL("docs/servers-tried.md", root), serversTriedPage(tried));
}

/** Replaces the table between the comments `<!-- NAME: ... -->` and `<!-- end of NAME -->` of a hand-written page. */
function fillTable(file, name, table) {
  const page = new URL(file, root);
  const place = new RegExp(`(?<=<!-- ${name}: .*? -->\\n\\n)[^]*?(?=<!-- end of ${name} -->)`);
  const text = readFileSync(page, "utf8");
  if (!place.test(text)) throw new Error(`${file} has no place for the table "${name}"`);
  writeFileSync(
    page,
    text.replace(place, () => `${table}\n\n`),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await writeDocs();
