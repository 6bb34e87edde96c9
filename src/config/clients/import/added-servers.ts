import { parseDocument } from "../../file/document.ts";
import { editJson } from "../../edit/json-change.ts";
import { InvalidConfig } from "../../file/problems.ts";
import { serverObjects } from "../../file/source.ts";
import type { ImportedEntry } from "../connect/client-entry.ts";

/**
 * The text of our configuration with these servers added behind those that it has. Everything else is kept letter for
 * letter: comments, order, line ends, indentation and a byte-order mark. `text` is undefined where there is no file
 * yet. Throws InvalidConfig for a text that is no configuration, and for a name that is there already.
 */
export function addServers(
  text: string | undefined,
  servers: readonly (readonly [string, ImportedEntry])[],
  fileName: string,
): string {
  const given = text === undefined || text.replace(/^\uFEFF/, "").trim() === "" ? "{}\n" : text;
  const document = parseDocument(withoutMark(given), fileName);
  const parent = serverObjects(document)[0] ?? ["mcpServers"];
  for (const [key] of servers) {
    const path = [...parent, key];
    if (document.value(path) !== undefined)
      throw new InvalidConfig([`${document.place(path)}: there is a server of this name already`]);
  }
  const written = editJson(
    given,
    servers.map(([key, value]) => ({ path: [...parent, key], value })),
  );
  refuseLoss(withoutMark(written), { parent, servers, fileName });
  return written;
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** Where and what was added. */
interface Added {
  readonly parent: readonly (string | number)[];
  readonly servers: readonly (readonly [string, ImportedEntry])[];
  readonly fileName: string;
}

/** A name such as `__proto__` would not become data. */
function refuseLoss(written: string, { parent, servers, fileName }: Added): void {
  const document = parseDocument(written, fileName);
  for (const [key, entry] of servers) {
    const isThere = document.keys(parent).includes(key) && document.wrongKeys.every(({ path }) => path.at(-1) !== key);
    if (!isThere || JSON.stringify(document.value([...parent, key])) !== JSON.stringify(entry))
      throw new InvalidConfig([`${fileName}: a server cannot be called ${JSON.stringify(key)}`]);
  }
}
