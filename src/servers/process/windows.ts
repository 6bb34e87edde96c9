import { spawn } from "node:child_process";

/**
 * Kills a process and what is linked to it as child of child; Windows has neither process groups nor a readable
 * environment, so a child whose parent ended before is not found. Resolves when taskkill is done, whatever it found.
 */
export function killWindowsTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const killer = spawn("taskkill", ["/PID", String(pid), "/T", "/F"], {
      stdio: "ignore",
      windowsHide: true,
    });
    killer.once("error", () => resolve());
    killer.once("exit", () => resolve());
  });
}
