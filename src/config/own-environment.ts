/** The environment of this process, for a gateway that is not given another. */
export function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
