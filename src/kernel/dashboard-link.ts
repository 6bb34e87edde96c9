/** Path and fragment of a link that logs a browser in. The code is in the fragment, which browsers never send. */
export function toDashboardLink(code: string): string {
  return `/ui/#code=${code}`;
}
