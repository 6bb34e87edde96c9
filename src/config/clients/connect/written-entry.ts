import type { ClientRow } from "../table/client-row.ts";
import { placesOf } from "../table/client-places.ts";
import { connectionChanges } from "./client-connection.ts";
import { changeClientText } from "./client-text.ts";
import { toOwnEntry } from "./own-entry.ts";

/** What somebody writes into a client's file by hand, on a machine that this gateway cannot reach. */
export interface WrittenEntry {
  /** As people know it there: `~/.cursor/mcp.json`. */
  readonly file: string;
  /** A whole file with our entry alone. */
  readonly text: string;
}

export interface WantedEntry {
  readonly url: string;
  readonly token: string | undefined;
  /** Of the machine where the client is. */
  readonly platform: NodeJS.Platform;
}

export const entryName = "toolyard";

/** As `toolyard connect` would write it there. Undefined for a client that takes no address, or is not there. */
export async function toWrittenEntry(row: ClientRow, wanted: WantedEntry): Promise<WrittenEntry | undefined> {
  const { url, token, platform } = wanted;
  const surroundings = { home: "~", env: { APPDATA: "%APPDATA%" }, platform, cwd: "" };
  const place = placesOf(row, surroundings).find((one) => one.row.scope === "user");
  const [file] = place?.files ?? [];
  const [first, ...rest] = place?.keyPath ?? [];
  if (row.http === undefined || place === undefined || file === undefined || first === undefined) return undefined;
  const { format, scope } = place.row;
  const target = { row, scope, path: file, format, keyPath: [first, ...rest] } as const;
  const entry = toOwnEntry(row, entryName, { kind: "url", url, token });
  const changes = connectionChanges(target, {}, { name: entryName, entry, off: [] });
  return { file, text: await changeClientText({ text: "", format, fileName: file }, changes) };
}
