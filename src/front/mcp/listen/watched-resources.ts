/** The resources that one legacy session, or one `subscriptions/listen`, is told of when they change. */
export interface WatchedResources {
  /**
   * The client's spelling of each URI, by instance and the server's own URI (`resourceKey`): an update comes with the
   * server's spelling, and the client knows only its own.
   */
  readonly spellings: ReadonlyMap<string, string>;
  readonly size: number;
  has(uri: string): boolean;
  /**
   * `uri` is the client's spelling; `release` ends the subscription upstream. It runs at once when the URI is watched
   * already: two requests for it may have been on their way at the same time.
   */
  add(uri: string, key: string, release: () => void): void;
  /** Stops watching one; nothing happens when it is not watched. */
  release(uri: string): void;
  releaseAll(): void;
}

interface Watched {
  readonly key: string;
  readonly release: () => void;
}

export function createWatchedResources(): WatchedResources {
  const spellings = new Map<string, string>();
  const watched = new Map<string, Watched>();

  function release(uri: string): void {
    const one = watched.get(uri);
    if (one === undefined) return;
    watched.delete(uri);
    spellings.delete(one.key);
    one.release();
  }

  return {
    spellings,
    get size() {
      return watched.size;
    },
    has: (uri) => watched.has(uri),
    add(uri, key, end) {
      if (watched.has(uri)) {
        end();
        return;
      }
      spellings.set(key, uri);
      watched.set(uri, { key, release: end });
    },
    release,
    releaseAll() {
      for (const uri of watched.keys()) release(uri);
    },
  };
}
