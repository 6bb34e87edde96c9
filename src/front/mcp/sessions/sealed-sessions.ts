import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { credentialText, type Principal } from "../../../kernel/principal.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { mostClaims, type ClaimStore } from "../../../store/shared.ts";
import type { Session } from "./session.ts";

/** What a session is made from, and made again from at another gateway. */
export interface SessionFacts {
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly clientName: string | undefined;
  /** Of `Session.connected`. */
  readonly connectedId: string;
}

/** Who uses a session where: it is valid for no one else, and at no other endpoint. */
export interface SessionUse {
  readonly principal: Principal;
  readonly endpointPath: string;
}

/**
 * Sessions that live in their own id (`Mcp-Session-Id`): it contains what the client declared, and is sealed with a key
 * that all gateways of a database have. Any of them makes the session again from it, with the rights of the request
 * that names it: the id gives no right, and is of no use without a credential. Its content is the client's own, so that
 * it is not encrypted.
 */
export interface SealedSessions {
  /** The id of a new session; undefined where it would be too long. */
  seal(facts: SessionFacts, use: SessionUse): string | undefined;
  /** Undefined where the id is not one of ours, was altered, has expired, or belongs to somebody else or elsewhere. */
  open(id: string, use: SessionUse): SessionFacts | undefined;
  /**
   * Whether the client ended it, at whichever gateway. While the database is away only those that were ended here are
   * known.
   */
  isEnded(facts: Pick<SessionFacts, "connectedId">): Promise<boolean>;
  /** Ends it as soon as another gateway says that its client has ended it. */
  follow(session: Session): void;
  /** Its client has ended it: the others are told. */
  tellEnd(session: Session): void;
}

export interface SealedSessionsDeps {
  /** The first seals, all of them open. */
  readonly keys: () => readonly Buffer[];
  readonly claims: ClaimStore;
  readonly end: (session: Session) => void;
  readonly clock: Pick<Clock, "now" | "after">;
}

/**
 * nginx reads the headers of an answer into 4 KB, and the other headers need room too. What a client declares takes
 * some 300 bytes. One that declares more gets an id without content, which is good at one gateway.
 */
const longestId = 3_072;
const lifetimeMs = 7 * 24 * 3_600_000;
const mark = "tys1";
/** Sessions that ended and the others are to be told of, as when the database is back. They are not told of more. */
const mostUntold = 10_000;
const tellAgainMs = 5_000;

export function createSealedSessions(deps: SealedSessionsDeps): SealedSessions {
  const { keys, claims, clock } = deps;
  /** By the ids of their clients' connections. */
  const followed = new Map<string, Session>();
  const ends = createEndNotes(deps);

  claims.onEnded((ids) => {
    if (ids === undefined) void lookUp([...followed.keys()]).catch(() => undefined);
    else endAll(ids);
  });

  function endAll(ids: readonly string[]): void {
    for (const id of ids) {
      const session = followed.get(id);
      if (session !== undefined) deps.end(session);
    }
  }

  async function lookUp(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += mostClaims)
      endAll(await claims.claimed({ kind: "session", ids: ids.slice(at, at + mostClaims) }));
  }

  return {
    seal({ revision, capabilities, clientName, connectedId }, { principal, endpointPath }) {
      const content = {
        ...{ p: principal.id, c: credentialOf(principal), e: endpointPath, r: revision, k: capabilities },
        ...{ n: clientName, i: connectedId, t: clock.now() },
      };
      const payload = Buffer.from(JSON.stringify(content)).toString("base64url");
      const id = `${mark}.${payload}.${signOf(keys()[0] as Buffer, payload)}`;
      return id.length > longestId ? undefined : id;
    },
    open(id, { principal, endpointPath }) {
      const [given, payload, sign, rest] = id.length > longestId ? [] : id.split(".");
      if (given !== mark || payload === undefined || sign === undefined || rest !== undefined) return undefined;
      if (!keys().some((key) => isSame(signOf(key, payload), sign))) return undefined;
      const content: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
      if (!isJsonObject(content)) return undefined;
      const { p, c, e, r, k, n, i, t } = content as unknown as SealedContent;
      if (p !== principal.id || c !== credentialOf(principal) || e !== endpointPath) return undefined;
      if (clock.now() - t > lifetimeMs) return undefined;
      return { revision: r, capabilities: k, clientName: n, connectedId: i };
    },
    async isEnded({ connectedId }) {
      if (ends.isUntold(connectedId)) return true;
      const asked = { kind: "session" as const, ids: [connectedId] };
      const found = await claims.claimed(asked).catch(() => []);
      return found.length > 0;
    },
    follow(session) {
      const { id, ended } = session.connected;
      followed.set(id, session);
      const leave = (): boolean => followed.get(id) === session && followed.delete(id);
      ended.addEventListener("abort", leave, { once: true });
    },
    tellEnd(session) {
      if (followed.get(session.connected.id) === session) ends.tell(session.connected.id);
    },
  };
}

interface SealedContent {
  readonly p: string;
  readonly c: string;
  readonly e: string;
  readonly r: string;
  readonly k: JsonObject;
  readonly n?: string;
  readonly i: string;
  readonly t: number;
}

function credentialOf(principal: Principal): string {
  return createHash("sha256").update(credentialText(principal)).digest("base64url").slice(0, 22);
}

function signOf(key: Buffer, payload: string): string {
  return createHmac("sha256", key).update(`${mark}.${payload}`).digest("base64url");
}

/** As texts: in Base64, several of them may stand for the same bytes. */
function isSame(right: string, given: string): boolean {
  return right.length === given.length && timingSafeEqual(Buffer.from(right), Buffer.from(given));
}

/**
 * Tells the others which sessions ended: all that wait together, and one question at a time, however fast a client ends
 * sessions. What cannot be told now is told later.
 */
function createEndNotes({ claims, clock }: Pick<SealedSessionsDeps, "claims" | "clock">) {
  const untold = new Set<string>();
  let isTelling = false;

  async function tellAll(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    try {
      while (untold.size > 0) {
        const ids = [...untold].slice(0, mostClaims);
        const nowMs = clock.now();
        await claims.claim({ kind: "session", ids, untilMs: nowMs + lifetimeMs, nowMs });
        for (const id of ids) untold.delete(id);
      }
    } catch {
      clock.after(tellAgainMs, () => void tellAll());
    } finally {
      isTelling = false;
    }
  }

  return {
    isUntold: (id: string) => untold.has(id),
    tell(id: string): void {
      if (untold.size >= mostUntold) return;
      untold.add(id);
      void tellAll();
    },
  };
}
