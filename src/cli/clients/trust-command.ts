import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { openConfigFile } from "../../config/edit/config-edit.ts";
import { findFile, follow } from "../../config/file/file.ts";
import type { FoundConfig } from "../../config/found-config.ts";
import { describeFound } from "../../config/load.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { trustedIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { printTable } from "../terminal/table.ts";
import { toQuestion } from "./trust-question.ts";
import { askYes, canAsk } from "../terminal/yes-or-no.ts";

/** `toolyard trust [PATH]`: allows a configuration that is found in its folder; lists those, and takes one back. */
export async function trust(context: CommandContext): Promise<number> {
  const { forget } = context.flags;
  if (isOn(context, "list")) return await list(context);
  if (typeof forget === "string") return await takeBack(context, forget);
  const found = await findConfig(context);
  const trusted = trustedIn(context);
  const before = await trusted.find(found.place);
  const isKnown = before?.hash === found.hash;
  const lines = toQuestion(found, before === undefined || isKnown ? undefined : (before.text ?? ""));
  process.stderr.write(`${lines.join("\n")}\n\n`);
  if (!isKnown && canAsk() && !isOn(context, "yes") && !(await askYes("Allow this configuration?", false))) {
    process.stderr.write("Nothing was allowed.\n");
    return 1;
  }
  await trusted.allow(found);
  process.stdout.write(`${plainText(found.place)} is allowed, as it is now.\n`);
  return 0;
}

/** The file that is named, or that commands would find in that folder. */
async function findConfig(context: CommandContext): Promise<FoundConfig> {
  const named = resolve(context.cwd, context.positionals[0] ?? ".");
  const isFolder = (await stat(named).catch(() => undefined))?.isDirectory() === true;
  const file = isFolder ? await findFile(undefined, named, context.homeDirectories) : named;
  const opened = file === undefined ? undefined : await openConfigFile(file);
  if (opened === undefined || opened.mode === undefined || (isFolder && dirname(opened.file) !== named))
    throw new GatewayError("CONFIG_INVALID", `there is no configuration in ${plainText(named)}`, {
      hint: "Name a file, or a folder with a toolyard.json, mcp.json or .mcp.json.",
    });
  return await describeFound(opened, context);
}

async function list(context: CommandContext): Promise<number> {
  const all = await trustedIn(context).list();
  if (isOn(context, "json")) {
    for (const { place, hash, allowedAtMs } of all)
      process.stdout.write(
        `${JSON.stringify({ file: place, hash, allowedAt: new Date(allowedAtMs).toISOString() })}\n`,
      );
    return 0;
  }
  if (all.length === 0) process.stderr.write("No configuration was allowed.\n");
  else
    printTable(
      ["ALLOWED", "FILE"],
      all.map(({ place, allowedAtMs }) => [new Date(allowedAtMs).toISOString().slice(0, 10), plainText(place)]),
    );
  return 0;
}

/** A file, or all files of a folder; they need not exist any more. */
async function takeBack(context: CommandContext, path: string): Promise<number> {
  const trusted = trustedIn(context);
  const named = resolve(context.cwd, path);
  const places = [join(await follow(dirname(named)), basename(named)), await follow(named)];
  const meant = (await trusted.list()).filter(({ place }) => places.includes(place) || places.includes(dirname(place)));
  for (const { place } of meant) {
    await trusted.forget(place);
    process.stdout.write(`${plainText(place)} is not allowed any more. A gateway that runs with it goes on.\n`);
  }
  if (meant.length === 0) process.stderr.write(`toolyard: nothing was allowed in ${plainText(named)}\n`);
  return meant.length === 0 ? 1 : 0;
}
