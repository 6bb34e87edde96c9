import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { BackupFile, RestUpkeep } from "../../operations/services.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { RecordStore } from "../../store/record-store.ts";

/** The databases of a running gateway, for its admins. */
export function createRestUpkeep(opened: () => Promise<Pick<RecordStore, "upkeep">>): RestUpkeep {
  // All of them are in one file, beside the state: a disk has room for one more, and perhaps not for ten.
  let isTaken = false;

  async function backup(): Promise<BackupFile> {
    const { upkeep } = await opened();
    if (isTaken)
      throw new GatewayError("RATE_LIMITED", "another backup is being read", {
        hint: "Wait until it has ended.",
        data: { retry_after_s: 10 },
      });
    isTaken = true;
    try {
      const { path, bytes } = await upkeep.backupAside();
      return {
        bytes,
        stream: createReadStream(path),
        async remove() {
          await rm(path, { force: true }).finally(() => (isTaken = false));
        },
      };
    } catch (error) {
      isTaken = false;
      throw error;
    }
  }

  const backupTo: RestUpkeep["backupTo"] = async (path) => await (await opened()).upkeep.backup(path);
  return { backup, backupTo, check: async () => await (await opened()).upkeep.check() };
}
