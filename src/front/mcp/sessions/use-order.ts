/** Things in the order of their last use, so that the one that was not used for longest is found without a walk. */
export interface UseOrder<T> {
  /** At the end, as the one that was used last. */
  add(thing: T): Place<T>;
  /** It was used: it goes to the end. */
  use(place: Place<T>): void;
  delete(place: Place<T>): void;
  /** The one that was not used for longest. */
  readonly first: Place<T> | undefined;
}

/** Where a thing is in the order. A linked list: a Map would be filled and emptied with each use. */
export class Place<T> {
  before: Place<T> | undefined;
  after: Place<T> | undefined;
  readonly thing: T;

  constructor(thing: T) {
    this.thing = thing;
  }
}

/** Empty at first. */
export function createUseOrder<T>(): UseOrder<T> {
  let first: Place<T> | undefined;
  let last: Place<T> | undefined;

  function append(place: Place<T>): void {
    place.before = last;
    place.after = undefined;
    if (last === undefined) first = place;
    else last.after = place;
    last = place;
  }

  function remove({ before, after }: Place<T>): void {
    if (before === undefined) first = after;
    else before.after = after;
    if (after === undefined) last = before;
    else after.before = before;
  }

  return {
    add(thing) {
      const place = new Place(thing);
      append(place);
      return place;
    },
    use(place) {
      if (place === last) return;
      remove(place);
      append(place);
    },
    delete: remove,
    get first() {
      return first;
    },
  };
}
