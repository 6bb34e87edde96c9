/**
 * What is not used of such memory is never touched, so it costs nothing. Beyond the last: twice as much as is needed.
 */
const blockSizes = [4_096, 65_536, 2_097_152, 16_777_216];
const none = Buffer.alloc(0);

/**
 * Bytes that arrive in pieces, put together as they come. A list of the pieces would cost 150 bytes for each, and a
 * server may send sixteen million of one byte (faults 70, 71).
 */
export class GatheredBytes {
  #block: Buffer = none;
  #length = 0;
  /** Whether the block is our own, with room behind what is in it. */
  #isOwn = false;

  get length(): number {
    return this.#length;
  }

  /** The first piece is kept as it is, without a copy, so nobody may change it. */
  append(piece: Buffer): void {
    if (this.#length === 0) {
      this.#block = piece;
      this.#length = piece.length;
      this.#isOwn = false;
      return;
    }
    const needed = this.#length + piece.length;
    if (!this.#isOwn || needed > this.#block.length) this.#grow(needed);
    piece.copy(this.#block, this.#length);
    this.#length = needed;
  }

  /** All that came; nothing of it is held any longer. */
  take(): Buffer {
    const bytes = this.#length === this.#block.length ? this.#block : this.#block.subarray(0, this.#length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#block = none;
    this.#length = 0;
    this.#isOwn = false;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(blockSizes.find((size) => size >= needed) ?? 2 * needed);
    this.#block.copy(larger, 0, 0, this.#length);
    this.#block = larger;
    this.#isOwn = true;
  }
}
