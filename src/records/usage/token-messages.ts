/** What the worker that counts tokens is told once, when it starts. */
export interface TokenWorkerData {
  readonly buildId: string;
}

export interface TokenRequest {
  readonly id: number;
  readonly text: string;
}

export interface TokenReply {
  readonly id: number;
  readonly tokens: number;
}
