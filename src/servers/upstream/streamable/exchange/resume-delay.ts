/** What decides when a stream that ended is asked for again. */
export interface ResumeState {
  /** The delay that the server asked for with `retry:`, or the default. */
  readonly askedMs: number;
  /** How many streams in a row have brought no message. */
  readonly emptyStreams: number;
}

/** A server that lets go of its client to be asked again later (2025-11-25, transports: polling) is asked soon. */
const firstGrowthMs = 50;
/** Beyond this an answer would be noticeably late. */
const mostGrowthMs = 1_000;

/**
 * How long to wait before a call's stream is resumed: as long as the server wants, and longer while it has nothing to
 * say, because `retry: 0` of a server that closes every stream at once would keep both busy until the call's deadline.
 */
export function toPollDelayMs({ askedMs, emptyStreams }: ResumeState): number {
  const grownMs = emptyStreams <= 1 ? 0 : firstGrowthMs * 2 ** Math.min(emptyStreams - 2, 10);
  return Math.max(askedMs, Math.min(grownMs, mostGrowthMs));
}

/** The same for a stream without a waiting call: every time twice as long, whatever the server asks for. */
export function toReopenDelayMs({ askedMs, emptyStreams }: ResumeState): number {
  return Math.max(askedMs, firstGrowthMs) * 2 ** Math.min(emptyStreams, 16);
}
