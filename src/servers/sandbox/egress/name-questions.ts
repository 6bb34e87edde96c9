/** A question to a name server (RFC 1035): its id, the name in small letters, the type of record. */
export interface NameQuestion {
  readonly name: string;
  readonly type: number;
  /** The bytes up to the end of the question. */
  readonly head: Buffer;
}

/** The longest message without extensions; a question is far shorter. */
const longestMessage = 512;
const addressType = 1;
const classes = { internet: 1, any: 255 };

/** Reads a message; undefined for anything but a plain question. Takes time linear in its length. Pure. */
export function readQuestion(message: Buffer): NameQuestion | undefined {
  if (message.length < 17 || message.length > longestMessage) return undefined;
  const flags = message.readUInt16BE(2);
  // An answer, another operation than a query, or none or several questions.
  if ((flags & 0xf800) !== 0 || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = message[at];
    // A pointer to elsewhere in the message makes no sense in a question.
    if (length === undefined || length > 63 || at + length + 5 > message.length) return undefined;
    at += 1;
    if (length === 0) break;
    labels.push(message.toString("latin1", at, at + length));
    at += length;
  }
  const name = labels.join(".").toLowerCase();
  if (labels.length === 0 || name.length > 253 || !/^[a-z0-9_.-]+$/.test(name)) return undefined;
  const type = message.readUInt16BE(at);
  const asked = message.readUInt16BE(at + 2);
  if (asked !== classes.internet && asked !== classes.any) return undefined;
  return { name, type, head: message.subarray(0, at + 4) };
}

/** Seconds that a program may remember an answer. */
const rememberSeconds = 30;

/**
 * The answer: one address; no record, where the name has an address but another type was asked for; or that there is no
 * such name. Pure.
 */
export function writeAnswer({ head, type }: NameQuestion, address: string | undefined): Buffer {
  const hasAnswer = address !== undefined && (type === addressType || type === 255);
  const answer = Buffer.alloc(head.length + (hasAnswer ? 16 : 0));
  head.copy(answer);
  const wantsRecursion = (head[2] ?? 0) & 1;
  answer.writeUInt16BE(0x8080 | (wantsRecursion << 8) | (address === undefined ? 3 : 0), 2);
  answer.writeUInt16BE(hasAnswer ? 1 : 0, 6);
  answer.writeUInt32BE(0, 8);
  if (!hasAnswer) return answer;
  // The name of the question, type A, class IN.
  answer.writeUInt32BE(0xc00c_0001, head.length);
  answer.writeUInt16BE(classes.internet, head.length + 4);
  answer.writeUInt32BE(rememberSeconds, head.length + 6);
  answer.writeUInt16BE(4, head.length + 10);
  for (const [index, part] of address.split(".").entries()) answer[head.length + 12 + index] = Number(part);
  return answer;
}
