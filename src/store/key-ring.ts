/** What data keys of teams are wrapped with. It never leaves the store. */
export interface WrappingKey {
  /** Tells keys apart without telling anything of them: it is kept beside the texts that the key wrapped. */
  readonly id: string;
  /** `bound` is what the data key belongs to; it opens for nothing else. */
  wrap(dataKey: Buffer, bound: string): string;
  /** Undefined when it was wrapped with another key, for something else, or was changed. */
  unwrap(wrapped: string, bound: string): Buffer | undefined;
}

/** The wrapping keys of one gateway. */
export interface KeyRing {
  /** Wraps whatever is new: while a rotation goes on, the key that is rotated to. */
  readonly current: WrappingKey;
  /** Whether an earlier rotation was not finished: everything still has to be wrapped with `next()`, then `adopt()`. */
  readonly isRotating: boolean;
  find(id: string): WrappingKey | undefined;
  /**
   * The key to rotate to: it is on the disk when this resolves. A key that was given from outside is not ours to
   * change; then this is the current one, and the one before it was named as the previous one.
   */
  next(): Promise<WrappingKey>;
  /** Nothing is wrapped with the old key any more: it is removed. */
  adopt(): Promise<void>;
}
