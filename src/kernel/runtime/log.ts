/** The structured log as the rooms use it. `app` implements it with pino. Each entry has fields and one sentence. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** The fields of a log entry. */
export interface LogFields {
  /** The room or file that writes the entry. */
  readonly component: string;
  readonly server?: string;
  readonly operation?: string;
  readonly durationMs?: number;
  readonly [field: string]: unknown;
}
