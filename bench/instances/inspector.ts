import { WebSocket } from "undici";
import { until } from "../../test/harness/until.ts";
import type { RunningGateway } from "../../test/harness/gateway.ts";

/** Bytes of live objects in another process: its garbage is collected first, so that two readings can be compared. */
export interface HeapReader extends Disposable {
  liveBytes(): Promise<number>;
}

/** Needs a gateway that was started with {@link inspectable}. */
export async function openHeapReader(gateway: RunningGateway): Promise<HeapReader> {
  const address = await until(() => /ws:\/\/\S+/.exec(gateway.stderr())?.[0]);
  const socket = new WebSocket(address);
  const waiting = new Map<number, (result: { usedSize?: number }) => void>();
  let lastId = 0;
  socket.addEventListener("message", (event) => {
    const { id, result } = JSON.parse(String(event.data)) as { id: number; result: { usedSize?: number } };
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  const ask = async (method: string): Promise<{ usedSize?: number }> => {
    lastId += 1;
    const id = lastId;
    return await new Promise((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method }));
    });
  };
  return {
    async liveBytes() {
      // Twice: finalizers of the first round free more.
      await ask("HeapProfiler.collectGarbage");
      await ask("HeapProfiler.collectGarbage");
      return (await ask("Runtime.getHeapUsage")).usedSize ?? 0;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

export const inspectable = { NODE_OPTIONS: "--inspect=127.0.0.1:0" } as const;
