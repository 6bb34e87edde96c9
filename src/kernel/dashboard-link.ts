/**
 * Path and fragment of a link that logs a browser in. The code stands in the fragment, which browsers send to nobody.
 */
export function toDashboardLink(code: string): string {
  return `/ui/#code=${code}`;
}
