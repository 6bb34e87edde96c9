import type { StoreProblem } from "../../record-store.ts";
import { NewerSchema } from "../sqlite/migrate.ts";
import { BadValue } from "../row-writer.ts";

/** A pooler before the database lends connections to it for one transaction each. */
export class Pooled extends Error {
  override readonly name = "Pooled";
}

/** The audit of the database was sealed by a gateway with another key. */
export class OtherKey extends Error {
  override readonly name = "OtherKey";
}

/** Where a database is, in messages: without the user and the password. */
export function nameDatabase(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = hostname === "" ? (searchParams.get("host") ?? "localhost") : hostname;
  const name = pathname === "/" ? "" : pathname;
  return `PostgreSQL at ${host}:${port === "" ? 5_432 : port}${name}`;
}

/** The code of an error: five characters of PostgreSQL, or the system's. */
export function codeOf(error: unknown): string {
  // Of several addresses that were tried, the first is as good as any.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && "code" in first ? String(first.code) : "";
}

/** Classes 08 (connection) and 57P (shut down, starting), and what the system and `pg` say of a connection. */
const awayCodes = /^(?:08...|57P0[1-5]|E[A-Z]+)$/;
const awayTexts =
  /^(?:Connection terminated|Client has encountered a connection error|Query read timeout|timeout expired|the database system is)/;
/** All connections of the pool were busy for too long. */
const exhaustedText = "timeout exceeded when trying to connect";

/** Whether the server cannot be reached now, and will be by itself. */
export function isAway(error: unknown): boolean {
  return awayCodes.test(codeOf(error)) || awayTexts.test(textOf(error)) || codeOf(error) === readOnly;
}

export function isExhausted(error: unknown): boolean {
  return textOf(error) === exhaustedText || codeOf(error) === tooMany;
}

/** What became of a primary that others took the place of. */
const readOnly = "25006";
const tooMany = "53300";
const full = "53100";
/** Wrong password, no such role, no such database: somebody has to change something. */
const refusedCodes = /^(?:28...|3D000|42501)$/;

/** Whether a pooler is in another mode than that of sessions; one of statements refuses transactions. */
export function isPooled(error: unknown): boolean {
  return error instanceof Pooled || textOf(error).includes("statement pooling mode");
}

/** Whether there is no room on the disk of the server. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === full;
}

/** Whether it is one row's fault: its values (class 22), or what they refer to (23). */
export function isRowsFault(error: unknown): boolean {
  return /^(?:22|23)...$/.test(codeOf(error)) || error instanceof BadValue || error instanceof TypeError;
}

/** The problem, as people are told it: never with the password, which no message of server or driver has. */
export function toPostgresProblem(error: unknown, place: string): StoreProblem {
  const reason = textOf(error);
  if (error instanceof NewerSchema)
    return {
      database: null,
      kind: "newer",
      message: `${place} was written by a newer version of Toolyard: ${reason}`,
      hint: "Start the newer version of Toolyard, or restore a backup that this one made.",
    };
  if (isFull(error))
    return {
      database: null,
      kind: "full",
      message: `there is no room on the disk of ${place}`,
      hint: "Make room there: the gateway goes on by itself. Until then records are dropped and counted.",
    };
  if (isPooled(error))
    return {
      database: null,
      kind: "failed",
      message: `${place} cannot be used: a pooler before it has to be in session mode`,
      hint:
        "Set `pool_mode = session` in PgBouncer, or name the address of the server itself: gateways listen for notices " +
        "and hold locks, which in another mode are lost without a word.",
    };
  if (isAway(error) || isExhausted(error))
    return {
      database: null,
      kind: "away",
      message: `${place} cannot be reached: ${reason}`,
      hint:
        "The gateway tries again every few seconds. People are served as they were known; nothing can be changed, " +
        "and records are dropped and counted.",
    };
  if (error instanceof OtherKey)
    return {
      database: null,
      kind: "failed",
      message: `${place} cannot be used: ${reason}`,
      hint:
        "Give all gateways of one database the same TOOLYARD_KEY: 32 bytes in base64, because a passphrase makes " +
        "another key in each data directory. Where it was changed, name the one before it in " +
        "TOOLYARD_KEY_PREVIOUS, or copy `audit.key` from the data directory of a gateway that works.",
    };
  const hint = refusedCodes.test(codeOf(error))
    ? "Look at the user, the password and the rights in the URL of the database (`toolyard.database`)."
    : "Look at what the message says; the gateway tries again every few seconds.";
  return { database: null, kind: "failed", message: `${place} cannot be used: ${reason}`, hint };
}

function textOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
