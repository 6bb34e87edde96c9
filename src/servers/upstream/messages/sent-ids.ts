/** How a server writes the ids that we gave it, which are all whole numbers. */
export interface SentIds {
  /** The id of an answer as we sent it, if it is one of ours. The first answer shows how the server writes ids. */
  ofAnswer(id: unknown): unknown;
  /** The same for a token or id in another message. */
  of(id: unknown): unknown;
}

/**
 * Some servers keep ids as text and answer "1" to 1, which the official clients accept. A server that has answered with
 * numbers does not do so: from it, "1" is not the same as 1 (JSON-RPC 2.0, section 5).
 */
export function createSentIds(): SentIds {
  let isText: boolean | undefined;
  const toNumber = (id: unknown): unknown => (typeof id === "string" && /^[1-9]\d{0,14}$/.test(id) ? Number(id) : id);
  return {
    ofAnswer(id) {
      if (isText === undefined && id !== null) isText = typeof toNumber(id) === "number" && typeof id === "string";
      return isText === true ? toNumber(id) : id;
    },
    of: (id) => (isText === true ? toNumber(id) : id),
  };
}
