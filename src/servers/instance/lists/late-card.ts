import type { RawLists } from "../../../catalog/model/instance-catalog.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Connection } from "../../upstream/connection.ts";

/** Long enough after a start that nothing waits for the server any more. */
const settleMs = 5_000;

type OnNews = (lists: RawLists) => Promise<void>;

/** Title and icons of a server that says nothing of them itself, from its card (SEP-2127). */
export interface LateCard {
  /** Takes over what was known when the lists were kept on disk, so that nothing changes until the card is read. */
  adopt(lists: RawLists): void;
  /** The same lists, with what the card says where `serverInfo` says nothing. */
  addTo(lists: RawLists, connection: Connection): RawLists;
  /**
   * Reads the card a while later, once for each instance and only where something is missing. `onNews` gets the lists
   * of then, if the card says something else than was known. Failures are silent: everything works without a card.
   */
  readOnce(connection: Connection, signal: AbortSignal, onNews: OnNews): void;
}

export function createLateCard(clock: Pick<Clock, "after">): LateCard {
  let known: JsonObject = {};
  /** As they were fetched last, without what the card says. */
  let latest: RawLists | undefined;
  let state: "unread" | "planned" | "read" = "unread";

  const withCard = (lists: RawLists): RawLists => ({ ...lists, serverInfo: { ...known, ...lists.serverInfo } });

  async function read(connection: Connection, signal: AbortSignal, onNews: OnNews): Promise<void> {
    const said = signal.aborted ? undefined : await connection.readCard?.();
    state = said === undefined ? "unread" : "read";
    if (said === undefined || signal.aborted || JSON.stringify(said) === JSON.stringify(known)) return;
    known = said;
    if (latest !== undefined) await onNews(withCard(latest));
  }

  return {
    adopt(lists) {
      known = looksOf(lists.serverInfo);
    },
    addTo(lists, { readCard }) {
      latest = lists;
      return readCard === undefined ? lists : withCard(lists);
    },
    readOnce(connection, signal, onNews) {
      const { title, icons } = connection.peer.serverInfo;
      const isComplete = title !== undefined && icons !== undefined;
      if (connection.readCard === undefined || isComplete || state !== "unread") return;
      state = "planned";
      clock.after(settleMs, () => void read(connection, signal, onNews).catch(() => undefined));
    },
  };
}

/** What a server's `serverInfo` says of how the server is shown. */
export function looksOf({ title, icons }: JsonObject): JsonObject {
  return { ...(title === undefined ? {} : { title }), ...(icons === undefined ? {} : { icons }) };
}
