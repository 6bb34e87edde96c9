/** One field of a protobuf message (protobuf.dev, "Encoding"). */
export interface Field {
  readonly number: number;
  readonly value: bigint | Buffer;
}

/** The fields of a message, in order. Throws for bytes that are no message. */
export function readFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;

  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error("the message ends in the middle of a number");
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  function take(length: number): Buffer {
    if (at + length > bytes.length) throw new Error("the message ends in the middle of a field");
    at += length;
    return bytes.subarray(at - length, at);
  }

  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: take(8).readBigUInt64LE() });
        break;
      case 2:
        fields.push({ number, value: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, value: BigInt(take(4).readUInt32LE()) });
        break;
      default:
        throw new Error(`field ${number} has a wire type that nobody uses`);
    }
  }
  return fields;
}

/** A field that is text; "" where there is none. */
export function textOf(fields: readonly Field[], number: number): string {
  const value = fields.find((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value.toString("utf8") : "";
}
