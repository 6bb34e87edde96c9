/** The key that the command printed, in base64, for everything that is opened with it. */
export interface KeyAnswer {
  key?: string | undefined;
}

/** Where the key comes from that logins and secrets are encrypted with. None of it: a key file, made when needed. */
export interface KeySource {
  /** `TOOLYARD_KEY`: 32 bytes in base64, a passphrase, or `file:` and the path of a file with 32 bytes in base64. */
  readonly secret?: string | undefined;
  /** `TOOLYARD_KEY_COMMAND`: a command for the shell that prints 32 bytes in base64. */
  readonly command?: string | undefined;
  /** Filled in by the first run of the command, which is not run again. Default: it runs once for each store. */
  readonly answer?: KeyAnswer;
  /** How long the command may take, ms. One that waits for a person holds up the start no longer. Default: 15,000. */
  readonly commandMs?: number;
  /** `TOOLYARD_KEY_PREVIOUS`: as `secret`, the key before it. What was encrypted with that one can still be read. */
  readonly previous?: string | undefined;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** What the environment says of the key. */
export function keySourceOf(env: Variables): KeySource {
  return {
    secret: env["TOOLYARD_KEY"] || undefined,
    command: env["TOOLYARD_KEY_COMMAND"] || undefined,
    previous: env["TOOLYARD_KEY_PREVIOUS"] || undefined,
  };
}
