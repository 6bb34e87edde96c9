/** The address of something that listens, for programs on the same machine. */
export function toUrl(host: string, port: number): string {
  return `http://${authorityOf(host, port)}`;
}

/** The origin on this machine of a gateway that may listen on all addresses. */
export function toLocalOrigin(url: string): string {
  const { protocol, host } = new URL(url);
  const here = host.replace(/^(?:0\.0\.0\.0|localhost|\[::\]|\[::1\])(?=:|$)/, "127.0.0.1");
  return `${protocol}//${here}`;
}

/** Host and port as a URL has them. */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}
