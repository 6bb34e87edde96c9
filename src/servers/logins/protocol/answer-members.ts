import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { OutgoingAnswer } from "../outgoing.ts";

/** Of scopes, methods and authorization servers: real lists have a few dozen. */
const mostItems = 100;
/** Neither white space nor a bracket: a page or a sentence is no form, whatever it contains. */
const formText = /^[\w.~%+-]+=[^\s<>{}]*$/;

/**
 * The object in an answer; undefined when there is none. Its content type decides nothing: JSON is sent as text/html,
 * with a byte order mark before it, and answers of the token endpoint come as a form from servers that are older than
 * RFC 6749, whatever they are asked to send.
 */
export function parseAnswer({ body }: Pick<OutgoingAnswer, "body">): JsonObject | undefined {
  // Takes the byte order mark away, too.
  const text = body.toString("utf8").trim();
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return formText.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined;
  }
}

export function isSuccess({ status }: Pick<OutgoingAnswer, "status">): boolean {
  return status >= 200 && status < 300;
}

/** A member that is text. Empty text and null are how many servers write that there is none. */
export function textOf(object: JsonObject | undefined, member: string): string | undefined {
  const value = object?.[member];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A member that is a list of texts, or one text in place of a list of one; what else is in it is left out. */
export function textsOf(object: JsonObject | undefined, member: string): readonly string[] {
  const value = object?.[member];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item): item is string => typeof item === "string" && item !== "").slice(0, mostItems);
}

/** A member that is an absolute URL, of whatever scheme. */
export function urlOf(object: JsonObject | undefined, member: string): string | undefined {
  const text = textOf(object, member);
  return text !== undefined && URL.canParse(text) ? text : undefined;
}

/** A member that is a positive number of seconds, also written as text. In ms. */
export function millisecondsOf(object: JsonObject | undefined, member: string): number | undefined {
  const value = object?.[member];
  const seconds = typeof value === "string" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}

/**
 * Names the flaw of a required member, for a sentence about the answer: "has no client_id". The server's own text is
 * not repeated: it is untrusted, and may be a secret.
 */
export function flawOf(object: JsonObject | undefined, member: string): string {
  if (object === undefined) return "is no JSON object";
  const value = object[member];
  if (value === undefined) return `has no ${member}`;
  if (value === null) return `has null as ${member}`;
  if (Array.isArray(value)) return `has a list as ${member}`;
  if (typeof value === "string") return value === "" ? `has an empty ${member}` : `has an unusable ${member}`;
  return typeof value === "object" ? `has an object as ${member}` : `has a ${typeof value} as ${member}`;
}

/** Only the words of RFC 6749: a description is text of a stranger. */
export function errorCodeOf(object: JsonObject | undefined): string | undefined {
  const error = textOf(object, "error");
  return error !== undefined && /^[a-z_]{1,60}$/.test(error) ? error : undefined;
}

/** As the last words of a sentence that says who answered with it. */
export function describeError(object: JsonObject | undefined): string {
  return errorCodeOf(object) ?? "with an error that has no name";
}
