/**
 * Sizes of the memory to allocate. Memory that is never written costs nothing, so the blocks may be generous. Beyond
 * the last size, twice the required memory is allocated.
 */
const blockSizes = [4_096, 65_536, 2_097_152, 16_777_216];
const none = Buffer.alloc(0);

/**
 * Joins bytes that arrive in pieces, as they arrive. A list of pieces would cost 150 bytes for each piece, and a
 * server may send sixteen million pieces of one byte (faults 70, 71).
 */
export class GatheredBytes {
  #block: Buffer = none;
  #length = 0;
  /** Whether the block was allocated here, so that it may be written to. */
  #isOwn = false;

  get length(): number {
    return this.#length;
  }

  /** Adds a piece. The first one is kept without a copy and must not be changed afterwards. */
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

  /** Returns all bytes and forgets them. */
  take(): Buffer {
    const bytes = this.#length === this.#block.length ? this.#block : this.#block.subarray(0, this.#length);
    this.clear();
    return bytes;
  }

  /** Forgets all bytes. */
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
