import { useRef, useState } from "react";
import { api, valueOf } from "../../api/client.ts";
import type { Drafts } from "../../words/settings/setting-drafts.ts";

/** The text of the configuration while somebody edits it, by typing in it or with changes of single settings. */
export interface ConfigText {
  readonly text: string;
  /** Changes of single settings that the gateway is still writing into the text, by their path with dots. */
  readonly pending: Drafts;
  /** Why the last change of a setting is not in the text. */
  readonly failure: unknown;
  readonly setText: (text: string) => void;
  /** Sets a setting, or takes it out (undefined). Comments and layout stay. */
  readonly change: (path: readonly string[], value: unknown) => void;
  /** The text with every change that was begun. Rejects when one of them failed. */
  readonly settled: () => Promise<string>;
}

export function useConfigText(first: string): ConfigText {
  const [text, show] = useState(first);
  const [pending, setPending] = useState<Drafts>({});
  const [failure, setFailure] = useState<unknown>(null);
  const latest = useRef(first);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const open = useRef<Set<Promise<void>>>(new Set());

  function setText(next: string): void {
    latest.current = next;
    show(next);
  }

  async function write(path: readonly string[], value: unknown): Promise<void> {
    const changes = [{ path: [...path], ...(value === undefined ? {} : { value }) }];
    // What was typed in the text while the gateway wrote must not be lost: then it writes once more.
    for (;;) {
      const before = latest.current;
      const answer = await valueOf(api.POST("/api/config/edit", { body: { text: before, changes } }));
      if (latest.current !== before) continue;
      setText(answer.text);
      return;
    }
  }

  /** One change after the other, each in the text that the one before left. */
  function change(path: readonly string[], value: unknown): void {
    const draft = { value };
    const key = path.join(".");
    const step = queue.current.then(async () => await write(path, value));
    open.current.add(step);
    setPending((now) => ({ ...now, [key]: draft }));
    queue.current = step
      .then(() => setFailure(null), setFailure)
      .finally(() => {
        open.current.delete(step);
        setPending((now) => Object.fromEntries(Object.entries(now).filter(([, one]) => one !== draft)));
      });
  }

  async function settled(): Promise<string> {
    await Promise.all(open.current);
    return latest.current;
  }

  return { text, pending, failure, setText, change, settled };
}
