import { isDeepStrictEqual } from "node:util";
import { profiledTools } from "../../../config/rows/client-profiles.ts";
import type { ClientLimit, ClientRow } from "../../../config/clients/table/client-row.ts";
import { toolNamespace } from "../../../config/clients/connect/own-entry.ts";
import type { FoundFile, FoundServer } from "../../../config/clients/import/read-clients.ts";
import { foreignToolFields } from "../../../config/entry/server-fields.ts";
import { mayUse } from "../../../engine/policy/tool-rules.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { doubtful, type Finding } from "./doctor-finding.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";

/** An entry of ours in a client's file, and what it is measured by. */
export interface HidingAsk {
  readonly row: ClientRow;
  readonly file: FoundFile;
  readonly server: FoundServer;
  readonly who: string;
  readonly again: string;
  /** What a call may go without an answer, at most, in milliseconds. */
  readonly longestCallMs: number;
  /** How long `toolyard stdio` took; undefined where that was not measured. */
  readonly startMs: number | undefined;
}

/** What in a client's file keeps our tools from its model, or gives a call up too early. */
export function hidingFindings(ask: HidingAsk): readonly Finding[] {
  const { file, server, who } = ask;
  const written = isJsonObject(server.written) ? server.written : {};
  const place = (key: string): string => plainText(`${file.path}: ${[...(server.keyPath ?? []), key].join(".")}`);
  return readers.flatMap((reader) =>
    reader(ask, written).map(({ key, what, todo, isOutside }) => ({
      ...doubtful(`${who}: ${what}`, todo),
      where: isOutside === true ? plainText(`${file.path}: ${key}`) : place(key),
    })),
  );
}

interface Hiding {
  /** The field of the entry, or with `isOutside` the key of the file. */
  readonly key: string;
  readonly isOutside?: true;
  readonly what: string;
  readonly todo: string;
}

type HidingReader = (ask: HidingAsk, written: JsonObject) => readonly Hiding[];

const readers: readonly HidingReader[] = [notShown, deferred, notListed, limits];

/** Codex, whose listed models see tools of servers only where the file names them. */
function notShown({ row: { shownAt }, server: { name, isShown }, again }: HidingAsk): readonly Hiding[] {
  if (shownAt === undefined || isShown === true) return [];
  const key = shownAt.join(".");
  const what = `\`${key}\` does not name ${toolNamespace(name)}, so that its own models, with any provider, see none of our tools`;
  return [{ key, isOutside: true, what, todo: again }];
}

/** What a client calls it when its model has to search for tools first, and the value with which it has not. */
const deferring: Readonly<Record<string, unknown>> = {
  deferTools: "never",
  deferred: false,
  deferLoading: false,
  defer_loading: false,
  alwaysLoad: true,
  alwaysLoadTools: true,
};

function deferred({ row: { ownFields = {} }, again }: HidingAsk, written: JsonObject): readonly Hiding[] {
  return Object.entries(deferring).flatMap(([key, shown]) => {
    const value = written[key];
    const isNeeded = Object.hasOwn(ownFields, key);
    if (isDeepStrictEqual(value, shown) || (value === undefined && !isNeeded)) return [];
    const says =
      value === undefined ? `\`${key}\` is missing` : `\`${key}\` is ${plainText(JSON.stringify(value)).slice(0, 60)}`;
    return [{ key, what: `${says}, so that its model may have to search for our tools first`, todo: again }];
  });
}

/** The two that everything is called through. */
const needed = profiledTools.filter((tool) => tool === "discover_mcp_tools" || tool === "execute_mcp_tool");

function notListed({ server: { entry } }: HidingAsk, written: JsonObject): readonly Hiding[] {
  const { allow, deny = [] } = entry.tools ?? {};
  const hidden = needed.filter((tool) => !mayUse({ rules: { allow, deny }, tool }));
  if (hidden.length === 0) return [];
  const key = ["tools", ...Object.keys(foreignToolFields)].find((field) => written[field] !== undefined) ?? "tools";
  const what = `its lists of tools leave out ${hidden.join(" and ")}`;
  return [{ key, what, todo: "Offer all tools of this entry there: which tools exist is said by the gateway." }];
}

function limits({ row, longestCallMs, startMs, server }: HidingAsk, written: JsonObject): readonly Hiding[] {
  const { call, start } = row.limits ?? {};
  const isStarted = server.entry.command !== undefined;
  return [
    ...tooShort(written, call, longestCallMs, "a call may wait"),
    ...(isStarted && startMs !== undefined ? tooShort(written, start, startMs, "`toolyard stdio` took") : []),
  ];
}

function tooShort(
  written: JsonObject,
  limit: ClientLimit | undefined,
  longestMs: number,
  whose: string,
): readonly Hiding[] {
  const value = limit === undefined ? undefined : written[limit.field];
  if (limit === undefined || typeof value !== "number" || value * limit.unitMs >= longestMs) return [];
  const inUnits = (ms: number): string => `${Math.ceil(ms / limit.unitMs)} ${limit.unitMs === 1 ? "ms" : "s"}`;
  const what = `\`${limit.field}\` is ${value}, and ${whose} ${inUnits(longestMs)}: it gives up before`;
  return [
    { key: limit.field, what, todo: limit.isShort === true ? "Raise it there." : "Raise it there, or take it out." },
  ];
}
