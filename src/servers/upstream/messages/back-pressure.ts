/** What messages are read from, and what waits when it is told to: a process's output, or an event stream. */
export interface StraySource {
  pause(): void;
  resume(): void;
}

/**
 * Limits the unsolicited messages of one server across its streams: notifications, progress, questions, second answers,
 * and lines that are no message at all.
 */
export interface BackPressure {
  /** Counts messages, or one, that are not the answer to a request that waits. */
  add(more?: number): void;
  /** How many were counted since the beginning. */
  readonly count: number;
  /**
   * Call when this source has brought some of them. When there are too many, it is not read for a moment: the server
   * waits in its own write, and other servers are not delayed.
   */
  restrain(source: StraySource): void;
  /** Call when nothing more is read from a source. It is not resumed any more. */
  forget(source: StraySource): void;
  /** Whether another thing that is not a message may be reported. */
  mayTell(): boolean;
}

const windowMs = 100;
/** Per window, which makes 5,000 per second. Each takes about 10 µs of the one thread that serves everybody. */
const mostStrays = 500;
/** Per window; further ones look like the first. */
const mostTold = 100;

/** Begins with nothing counted. */
export function createBackPressure(): BackPressure {
  let count = 0;
  let windowStart = 0;
  let told = 0;
  let window: NodeJS.Timeout | undefined;
  let isResuming = false;
  /** In the order in which they were paused. */
  const paused = new Set<StraySource>();

  const isTooMuch = (): boolean => count - windowStart > mostStrays;

  function endWindow(): void {
    window = undefined;
    windowStart = count;
    told = 0;
    if (!isResuming) resumeNext();
  }

  /**
   * One stream after the other, each of which is read before the next is resumed: a server may have hundreds of them,
   * and the data ready on all of them together would be far too much.
   */
  function resumeNext(): void {
    isResuming = false;
    if (isTooMuch()) return;
    const [source] = paused;
    if (source === undefined) return;
    paused.delete(source);
    source.resume();
    if (paused.size === 0) return;
    isResuming = true;
    setImmediate(resumeNext);
  }

  return {
    add(more = 1) {
      if (more === 0) return;
      count += more;
      window ??= setTimeout(endWindow, windowMs);
    },
    get count() {
      return count;
    },
    restrain(source) {
      if (!isTooMuch() || paused.has(source)) return;
      paused.add(source);
      source.pause();
    },
    forget: (source) => void paused.delete(source),
    mayTell() {
      told += 1;
      return told <= mostTold;
    },
  };
}
