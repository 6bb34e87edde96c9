import { spawn } from "node:child_process";

/**
 * Opens an http or https URL in the user's browser. The program gets it as one argument, never through a shell.
 * Whether it worked is not known, so the URL is printed as well.
 */
export function openBrowser(url: string, platform: NodeJS.Platform): void {
  const [command, ...args] = openerOf(platform);
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true, shell: false });
  child.on("error", () => undefined);
  child.unref();
}

function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  return platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
}
