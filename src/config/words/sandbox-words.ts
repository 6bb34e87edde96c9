/**
 * Whether a sandbox is proposed for a new server, by its command with its arguments: it is a package that is
 * downloaded, and does not live on its user's own keys or files. Pure; the dashboard uses it too.
 */
export function isForSandbox(command: string, args: readonly string[]): boolean {
  return downloads.test(command) && !needsMore.test([command, ...args].join(" "));
}

const downloads = /(?:^|[\\/])(?:npx|npm|pnpm|pnpx|yarn|bunx|bun|uvx|uv|pipx)(?:\.cmd|\.exe)?$/;
const needsMore =
  /\b(?:git|kubernetes|kubectl|k8s|docker|podman|aws|azure|gcloud|terraform)\b|[-_/](?:git|aws|gcp)[-_/@]/i;
