import { readFileSync } from "node:fs";
import { parsePins, type PinChoice } from "../../config/rows/tool-rows.ts";
import type { PinStore } from "../../catalog/discovery/pins.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { setAside } from "../quarantine.ts";
import { replaceFile } from "./safe/replace-file.ts";

/** Increased when the format of the file changes. */
const format = 1;

/**
 * The pins that people chose who are not in the database, in one JSON file with mode 0600. What cannot be pinned in it
 * is skipped. A damaged file, or one of a newer format, is set aside.
 */
export function createPinsFile(path: string, onFailure: (error: unknown) => void): PinStore {
  let chosen: ReadonlyMap<string, PinChoice> | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const read = (): ReadonlyMap<string, PinChoice> => (chosen ??= readPins(path, onFailure));

  async function write(person: string, choice: PinChoice | undefined): Promise<void> {
    const next = new Map(read());
    if (choice === undefined) next.delete(person);
    else next.set(person, choice);
    try {
      await replaceFile(path, JSON.stringify({ format, pins: Object.fromEntries(next) }));
    } catch (error) {
      const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
      throw new GatewayError(isFull ? "STORE_FULL" : "STORE_UNAVAILABLE", "pinned tools cannot be written", {
        cause: error,
      });
    }
    chosen = next;
  }

  return {
    of: async (person) => read().get(person),
    async choose(person, choice) {
      const done = writing.then(async () => await write(person, choice));
      writing = done.catch(() => undefined);
      await done;
    },
  };
}

function readPins(path: string, onFailure: (error: unknown) => void): ReadonlyMap<string, PinChoice> {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isJsonObject(kept) || kept["format"] !== format || !isJsonObject(kept["pins"]))
      throw new Error("the file has an unknown format");
    const pins = Object.entries(kept["pins"]).map(([person, choice]) => [person, parsePins(choice)] as const);
    return new Map(pins.filter((pin): pin is readonly [string, PinChoice] => pin[1] !== undefined));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return new Map();
    if (code !== undefined)
      throw new GatewayError("STORE_UNAVAILABLE", "pinned tools cannot be read", { cause: error });
    setAside(path, Date.now());
    onFailure(error);
    return new Map();
  }
}
