import { openClientFile, applyEdit, planEdit } from "../../../src/config/clients/connect/client-edit.ts";
import { systemClock } from "../../../src/kernel/runtime/clock.ts";

// Changes the file of its first argument again and again, with backups in the folder of its second, until it is killed.
const [path = "", dataDir = ""] = process.argv.slice(2);
for (let round = 1; ; round += 1) {
  const opened = await openClientFile(path, "json");
  const edit = await planEdit(opened, [{ path: ["mcpServers", "toolyard"], value: { command: `round-${round}` } }]);
  process.stdout.write(`${round}\n`);
  await applyEdit(edit, { dataDir, clock: systemClock });
}
