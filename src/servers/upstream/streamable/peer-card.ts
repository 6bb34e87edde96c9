import { untilAborted, abortAfter } from "../../../kernel/runtime/abort.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { cardPathEnd, cardType } from "../../../wire/mcp/revisions.ts";
import type { CreateHttpClient } from "../../../wire/http/http-client.ts";
import { sendWhole } from "../../../wire/http/whole-response.ts";
import type { ServerAddress } from "./server-address.ts";

/** A card has a few hundred bytes, or some thousand with an icon in it. */
const cardBytes = 65_536;
const cardTimeoutMs = 5_000;
const titleCharacters = 100;
const mostIcons = 8;

/**
 * What a server's card says of its looks (SEP-2127): `title` and `icons`, where they are fit to be shown; an empty
 * object where there is no such card, whatever the reason. The card is read at its reserved place, the path of the
 * server's own URL with `/server-card` behind it, over a connection that is made as those for calls are. It is public,
 * so that no credential goes with the request, and a redirect is no card. Undefined when the signal aborts first.
 */
export async function readPeerCard(
  address: Pick<ServerAddress, "origin" | "path">,
  createClient: CreateHttpClient,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const { origin } = address;
  const client = createClient({ origin, connections: 1, reserved: 1, connectTimeoutMs: cardTimeoutMs });
  try {
    const [pathname = "", query] = address.path.split(/(?=\?)/, 2);
    const path = `${pathname.replace(/\/$/, "")}${cardPathEnd}${query ?? ""}`;
    const headers = ["accept", `${cardType}, application/json`, "accept-encoding", "identity"];
    const failed = (): Error => new Error("there is no card");
    const limits = { mostBytes: cardBytes, tooLong: failed, toError: failed };
    const sent = sendWhole(client, { method: "GET", path, headers, body: null }, limits);
    const { head, body } = await untilAborted(sent, abortAfter(cardTimeoutMs, signal));
    return head.status === 200 ? toLooks(JSON.parse(body.toString("utf8")), origin) : {};
  } catch {
    return signal.aborted ? undefined : {};
  } finally {
    client.close();
  }
}

function toLooks(card: unknown, origin: string): JsonObject {
  if (!isJsonObject(card)) return {};
  const { title, icons } = card;
  const shown = Array.isArray(icons) ? icons.filter((icon) => isIcon(icon, origin)).slice(0, mostIcons) : [];
  return {
    ...(typeof title === "string" && title.trim() !== "" ? { title: title.trim().slice(0, titleCharacters) } : {}),
    ...(shown.length === 0 ? {} : { icons: shown }),
  };
}

/** An image within the card, or of the server's own origin: drawing it makes no request to a third party. */
function isIcon(icon: unknown, origin: string): boolean {
  if (!isJsonObject(icon) || typeof icon["src"] !== "string") return false;
  const { src } = icon;
  return /^data:image\/[a-z+.-]+[;,]/.test(src) || (URL.canParse(src) && new URL(src).origin === origin);
}
