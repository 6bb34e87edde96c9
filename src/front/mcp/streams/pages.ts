import { createHmac } from "node:crypto";
import type { View } from "../../../catalog/model/view.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import { hasModernOutput } from "../../../wire/mcp/shapes/definition-shapes.ts";
import type { ClientProfile } from "../../../config/rows/client-profiles.ts";
import type { Exposure, ListKind, Listing, PinnedTools } from "../../../catalog/exposure/exposure.ts";
import type { ServerTexts } from "../../../catalog/exposure/text/server-texts.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/**
 * One page of a list, ready to be put between the braces of a result: `"tools":[…],"nextCursor":"…"`, and its
 * caching hints.
 */
export interface Page {
  readonly body: string;
  readonly hints: string;
}

export interface WantedPage {
  readonly kind: ListKind;
  readonly cursor: unknown;
  /** Where the client is of a kind that has a profile. */
  readonly client?: ClientProfile | undefined;
  readonly era?: Era | undefined;
  /** What the client's session was told of the servers when it began, where it has one. */
  readonly told?: ServerTexts | undefined;
  readonly pinned?: PinnedTools | undefined;
}

export interface PageBook {
  /** Throws CURSOR_INVALID for a cursor that this principal was not given for this list. */
  page(view: View, exposure: Exposure, wanted: WantedPage): Page;
}

/**
 * A page ends at whichever comes first. Clients that do not page see this much, which is more than any of them can
 * use.
 */
const pageItems = 1_000;
const pageBytes = 2 * 1024 * 1024;

/** A cursor of "" is none that was given out: it means the start, as null and none do. */
export function isStart(cursor: unknown): boolean {
  return cursor === undefined || cursor === null || cursor === "";
}

/**
 * Lists are serialised once per view, exposure, kind, and kind and era of client where they matter; the view's memo is
 * the cache's lifetime. A list that says of the view no more than some texts is serialised once per text: that of all
 * who read it, and of sessions that have outlived the view.
 *
 * @param keys of cursors: the first signs, all of them are accepted
 */
export function createPageBook(keys: () => readonly Buffer[]): PageBook {
  const memo = new WeakMap<View | ServerTexts, Map<string, readonly Page[]>>();
  const eraMatters = new WeakMap<View, boolean>();

  /** Only definitions that an earlier revision cannot hold are listed in two ways. */
  function eraFor(view: View, kind: ListKind, era: Era | undefined): Era | undefined {
    if (era !== "legacy" || kind !== "tools") return undefined;
    let matters = eraMatters.get(view);
    if (matters === undefined) {
      matters = view.servers.some(({ tools }) => tools.some(({ definition }) => hasModernOutput(definition)));
      eraMatters.set(view, matters);
    }
    return matters ? era : undefined;
  }

  function sign(text: string, key = keys()[0] as Buffer): string {
    return createHmac("sha256", key).update(text).digest("base64url").slice(0, 22);
  }

  function isSigned(text: string, signature: string): boolean {
    return keys().some((key) => sign(text, key) === signature);
  }

  function toCursor(page: number, binding: string): string {
    return Buffer.from(`${page}.${sign(`${page}.${binding}`)}`, "latin1").toString("base64url");
  }

  function readCursor(cursor: unknown, binding: string): number {
    if (isStart(cursor)) return 0;
    const [page, signature] =
      typeof cursor === "string" ? Buffer.from(cursor.slice(0, 200), "base64url").toString("latin1").split(".") : [];
    if (page === undefined || signature === undefined || !isSigned(`${page}.${binding}`, signature)) {
      throw new GatewayError("CURSOR_INVALID", "the cursor is not one that was given out for this list");
    }
    return Number(page);
  }

  function buildPages(listing: Listing, kind: ListKind, binding: string): readonly Page[] {
    const hints = `"ttlMs":${Math.round(listing.ttlMs)},"cacheScope":"${listing.cacheScope}"`;
    const groups: string[][] = [[]];
    let bytes = 0;
    for (const item of listing.items) {
      const last = groups.at(-1) as string[];
      if (last.length > 0 && (last.length >= pageItems || bytes + item.length > pageBytes)) {
        groups.push([item]);
        bytes = item.length;
      } else {
        last.push(item);
        bytes += item.length;
      }
    }
    return groups.map((items, index) => ({
      body: `"${kind}":[${items.join(",")}]${index + 1 < groups.length ? `,"nextCursor":"${toCursor(index + 1, binding)}"` : ""}`,
      hints,
    }));
  }

  return {
    page(view, exposure, { kind, cursor, client: anyClient, era: anyEra, told: toldBefore, pinned }) {
      const client = exposure.toolsByClient === true && kind === "tools" ? anyClient : undefined;
      const era = eraFor(view, kind, anyEra);
      const binding = `${view.principal.id}\n${exposure.name}\n${kind}`;
      const wanted = readCursor(cursor, binding);
      const told = kind === "tools" ? (toldBefore ?? exposure.told?.(view)) : undefined;
      const source = told ?? view;
      let books = memo.get(source);
      if (books === undefined) memo.set(source, (books = new Map()));
      // The cursors of a list with pins, which may have pages, are its reader's own.
      const pinnedName = pinned === undefined ? "" : `\n${pinned.key}\n${view.principal.id}`;
      // By content: profiles are few, and a reloaded configuration brings equal ones as other objects.
      const name = `${exposure.name}\n${kind}${client === undefined ? "" : `\n${JSON.stringify(client)}`}${era === undefined ? "" : `\n${era}`}${pinnedName}`;
      let pages = books.get(name);
      if (pages === undefined)
        books.set(name, (pages = buildPages(exposure.list(view, kind, { client, era, told, pinned }), kind, binding)));
      // The list may have become shorter since the cursor was given out: then nothing is left of it.
      return pages[wanted] ?? { body: `"${kind}":[]`, hints: pages[0]?.hints ?? "" };
    },
  };
}
