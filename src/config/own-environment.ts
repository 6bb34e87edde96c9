/** The environment of this process, for a gateway that is told of no other. */
export function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
