import { spawn } from "node:child_process";

/**
 * Kills a process and its descendants. Windows has neither process groups nor readable environments, so a child whose
 * parent has already ended is not found. Resolves when taskkill is done, whatever it found.
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
