import { fileURLToPath } from "node:url";
import { reportChange } from "./change-report.ts";
import { dataDirectoryOf, type CommandContext } from "../command/command-context.ts";
import { openEditedConfig, pathForNew } from "./edited-config.ts";
import { exampleServers } from "./example-servers.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { isOn } from "../command/options.ts";

/** `toolyard servers add --examples`: three servers to try the gateway with, without those that are there already. */
export async function addExamples(context: CommandContext, words: readonly string[]): Promise<number> {
  if (words.length > 0) return refuseUsage("--examples takes no name", "toolyard servers add --examples");
  const edited = await openEditedConfig(context);
  const { file, text } = edited.opened;
  const before = await edited.check(text.trim() === "" ? "{}" : text);
  // The folder of this package, from dist/cli.
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const known = new Set(edited.servers.map(({ key }) => key));
  const fresh = exampleServers({ root, dataDir: dataDirectoryOf(before, context) }).filter(
    ([name]) => !known.has(name),
  );
  const names = fresh.map(([name]) => name);
  const last = names.at(-1);
  if (last === undefined) {
    if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ names, file, backup: null })}\n`);
    else process.stdout.write(`${file} has servers of these names already\n`);
    return 0;
  }
  const next = edited.edit(fresh.map(([name, entry]) => ({ path: pathForNew(edited, name), value: entry })));
  await edited.check(next);
  const backup = await edited.save(next);
  return await reportChange(context, {
    what: `added ${names.join(", ")} to ${file}`,
    server: { key: last, slug: last, isToRun: true },
    facts: { names, file, backup: backup ?? null },
  });
}
