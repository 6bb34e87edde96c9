import type { RecordKind, RecordRows, RecordStoreOptions } from "../../store/record-store.ts";
import type { Redaction } from "../redaction/redaction.ts";

type Cleaners = { readonly [Kind in RecordKind]?: (row: RecordRows[Kind]) => RecordRows[Kind] };

/**
 * The last look at rows before they leave the main thread: at lines that servers sent as log messages, which were not
 * searched before, and at names of what was called, because a URI may hold a token. Rows without secrets stay the same
 * objects.
 */
export function createRowRedaction({ said }: Pick<Redaction, "said">): RecordStoreOptions["redact"] {
  /** Names that this batch had already: those of its calls are few. */
  const names = new Map<string, string>();

  function cleanName(name: string): string {
    let clean = names.get(name);
    if (clean === undefined) {
      // The next batch may know other secrets.
      if (names.size === 0) queueMicrotask(() => names.clear());
      names.set(name, (clean = said(name)));
    }
    return clean;
  }

  const cleaners: Cleaners = {
    log(row) {
      const line = said(row.line);
      return line === row.line ? row : { ...row, line };
    },
    request(row) {
      const name = cleanName(row.name);
      return name === row.name ? row : { ...row, name };
    },
  };
  return <Kind extends RecordKind>(kind: Kind, row: RecordRows[Kind]) => cleaners[kind]?.(row) ?? row;
}
