/**
 * A table of the database, declared once: its rows as the gateway has them, its columns as the database has them, and
 * both directions follow. The database has texts, integers and null only; the name of a column is that of its member in
 * snake case. Rows are plain values, because they travel to the worker thread as JSON.
 */
export interface Table<Columns extends ColumnsOf> {
  /** Names of the columns, in the order of `toValues`. */
  readonly columns: readonly (keyof KeptRow<Columns> & string)[];
  readonly toRow: (kept: KeptRow<Columns>) => Row<Columns>;
  readonly toKept: (row: Row<Columns>) => KeptRow<Columns>;
  readonly toValues: (row: Row<Columns>) => readonly unknown[];
}

/** How the values of a column are kept. A member whose value may be undefined is absent where it is. */
export interface Column<Value, Kept> {
  /** In the database, where it is not the member's. */
  readonly name?: string;
  keep(value: Value): Kept;
  read(kept: Kept): Value;
}

export type ColumnsOf = Readonly<Record<string, Column<unknown, unknown>>>;

/** A row of a table as the gateway has it. */
export type RowOf<Of> = Of extends Table<infer Columns> ? Row<Columns> : never;

/** Tables by their names, as Kysely wants to know them. */
export type KeptTables<Tables> = {
  readonly [Name in keyof Tables]: Tables[Name] extends Table<infer Columns> ? KeptRow<Columns> : never;
};

type ValueOf<Of> = Of extends { read(kept: never): infer Value } ? Value : never;
type KeptOf<Of> = Of extends { keep(value: never): infer Kept } ? Kept : never;
type Row<Columns> = {
  readonly [Member in keyof Columns as undefined extends ValueOf<Columns[Member]> ? never : Member]: ValueOf<
    Columns[Member]
  >;
} & {
  readonly [Member in keyof Columns as undefined extends ValueOf<Columns[Member]> ? Member : never]?: Exclude<
    ValueOf<Columns[Member]>,
    undefined
  >;
};
type KeptRow<Columns> = {
  [Member in keyof Columns & string as NameOf<Columns[Member], Member>]: KeptOf<Columns[Member]>;
};
type NameOf<Of, Member extends string> = Of extends { readonly name: infer Name extends string } ? Name : Snake<Member>;
type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : "";

function plain<Value>(): Column<Value, Value> {
  return { keep: (value) => value, read: (kept) => kept };
}

export const text = plain<string>();
export const textOrNull = plain<string | null>();
export const integer = plain<number>();
export const integerOrNull = plain<number | null>();

/** One of a few texts. */
export const word = <Word extends string>(): Column<Word, Word> => plain();

/** A text that most rows do not have: it is kept as an empty one. */
export const textIfAny: Column<string | undefined, string> = {
  keep: (value = "") => value,
  read: (kept) => (kept === "" ? undefined : kept),
};

export const flag: Column<boolean, number> = { keep: (value) => (value ? 1 : 0), read: (kept) => kept !== 0 };

export function json<Value>(): Column<Value, string> {
  return { keep: (value) => JSON.stringify(value), read: (kept) => JSON.parse(kept) as Value };
}

export function jsonOrNull<Value>(): Column<Value | null, string | null> {
  const whole = json<Value>();
  return {
    keep: (value) => (value === null ? null : whole.keep(value)),
    read: (kept) => (kept === null ? null : whole.read(kept)),
  };
}

/** A value that most rows do not have. */
export function jsonIfAny<Value>(): Column<Value | undefined, string> {
  const whole = json<Value>();
  return {
    keep: (value) => (value === undefined ? "" : whole.keep(value)),
    read: (kept) => (kept === "" ? undefined : whole.read(kept)),
  };
}

/** A column whose name is not that of its member. */
export function named<Name extends string, Value, Kept>(name: Name, column: Column<Value, Kept>) {
  return { ...column, name };
}

export function table<Columns extends ColumnsOf>(columns: Columns): Table<Columns> {
  const all = Object.entries(columns).map(([member, { name = toSnake(member), keep, read }]) => ({
    ...{ member, name, keep, read },
  }));
  return {
    columns: all.map(({ name }) => name) as never,
    toRow(kept) {
      const row: Record<string, unknown> = {};
      for (const { member, name, read } of all) {
        const value = read((kept as Record<string, unknown>)[name]);
        if (value !== undefined) row[member] = value;
      }
      return row as Row<Columns>;
    },
    toKept(row) {
      const values = row as Record<string, unknown>;
      return Object.fromEntries(all.map(({ member, name, keep }) => [name, keep(values[member])])) as KeptRow<Columns>;
    },
    toValues(row) {
      const values = row as Record<string, unknown>;
      return all.map(({ member, keep }) => keep(values[member]));
    },
  };
}

function toSnake(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
