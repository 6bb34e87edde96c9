import { open } from "node:fs/promises";

/** Fills the file system with one file, down to its last block. For a small one that the test mounted. */
export async function fillDisk(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    for (const size of [1_048_576, 4_096])
      for (let hasRoom = true; hasRoom;)
        hasRoom = await file.write(Buffer.alloc(size)).then(
          ({ bytesWritten }) => bytesWritten === size,
          () => false,
        );
  } finally {
    await file.close();
  }
}
