/** Rows of one kind that wait to be sent together. */
export interface WaitingBatch<Row> {
  readonly rows: number;
  readonly characters: number;
  /** @param size characters of all texts in it */
  add(row: Row, size: number): void;
  /** Gives them as the worker is sent them, with what `redact` makes of every text in them; then there are none. */
  empty(redact: (row: Row) => Row): RowText;
}

/** A batch on its way to the worker: one text is handed over cheaper than a tree of objects. */
export interface RowText {
  /** For `rowsFromText`. */
  readonly text: string;
  readonly count: number;
  /** The highest id of calls; 0 for other kinds, and where what was said in a call has to be written at once. */
  readonly lastId: number;
}
