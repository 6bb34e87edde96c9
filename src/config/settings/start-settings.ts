import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { Settings } from "../config.ts";
import type { Rows } from "../rows/setting-row.ts";
import { settingsTable } from "./settings-table.ts";

/** The settings that differ and take effect at the next start only, as paths below `toolyard`: `limits.sessions`. */
export function changedForNextStart(before: Settings, after: Settings): readonly string[] {
  return changedRows(settingsTable, before, after, "");
}

function changedRows(rows: Rows, before: unknown, after: unknown, above: string): readonly string[] {
  return Object.entries(rows).flatMap(([name, member]) => {
    const [old, now] = [memberOf(before, name), memberOf(after, name)];
    if (member.kind === "group") return changedRows(member.rows, old, now, `${above}${name}.`);
    // Objects whose members the user names (people, clients) are read again whenever the file is.
    if (member.kind === "keyed" || member.isReadAtStart !== true) return [];
    return isDeepStrictEqual(old, now) ? [] : [`${above}${name}`];
  });
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}
