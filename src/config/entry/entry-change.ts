/**
 * One value that is set in a file of a person's, or removed from it. All else in the file stays as its owner wrote it.
 *
 * A number in the path is the place in a list; a text that begins a path is a key of the file's outermost object.
 */
export interface EntryChange {
  readonly path: readonly (string | number)[];
  /** The new value. Undefined removes the old one, key and all. */
  readonly value: unknown;
}
