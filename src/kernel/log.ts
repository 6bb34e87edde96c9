/** The structured log as every room sees it; pino behind it, made by `app`. Fields first, then one sentence. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface LogFields {
  /** The room or part that speaks. */
  readonly component: string;
  readonly server?: string;
  readonly operation?: string;
  readonly durationMs?: number;
  readonly [field: string]: unknown;
}
