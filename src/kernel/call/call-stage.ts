/** What a request is waiting for, in the words that its client is told. One object for all copies of its context. */
export interface CallStage {
  /** The server, or servers; undefined before it is known. */
  server: string | undefined;
  /** Whether it is being started; otherwise its answer is waited for. */
  isStarting: boolean;
}

/** Servers that are named; the others are counted. */
const mostNamed = 3;

/** Says that these servers are being started for the request. */
export function noteStarting(stage: CallStage | undefined, slugs: readonly string[]): void {
  if (stage === undefined || slugs.length === 0) return;
  const others = slugs.length - mostNamed;
  const named = slugs.slice(0, mostNamed).join(", ");
  stage.server = others > 0 ? `${named} and ${others} more` : named;
  stage.isStarting = true;
}
