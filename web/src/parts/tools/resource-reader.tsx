import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiFailure } from "../../api/failure.ts";
import { onLiveEvent } from "../../api/live.ts";
import { resourceQueries, tellsOf, watchResource } from "../../api/resource-queries.ts";
import { time } from "../../words/format.ts";
import { toCommand } from "../../words/words.ts";
import { Button, CopyButton } from "../basic/button.tsx";
import { ContentView } from "./content-view.tsx";
import { TextField } from "../forms/field.tsx";
import { useInSight } from "../basic/in-sight.ts";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";

interface ReaderProps {
  readonly uri: string | undefined;
  readonly onRead: (uri: string) => void;
}

/** One resource as it is now, and whatever it becomes while it is shown. */
export function ResourceReader({ uri, onRead }: ReaderProps) {
  const [address, setAddress] = useState("");
  const place = useInSight(uri);
  return (
    <Section
      place={place}
      title="Content"
      actions={uri !== undefined && <CopyButton label="Copy as command" text={toCommand("read", [uri])} />}
    >
      <form
        className="filters"
        aria-label="By address"
        onSubmit={(event) => {
          event.preventDefault();
          if (address.trim() !== "") onRead(address.trim());
        }}
      >
        <TextField
          label="Address"
          placeholder="Of a resource, or of a long result"
          size={44}
          value={address}
          onChange={({ target }) => setAddress(target.value)}
        />
        <Button type="submit">Read</Button>
      </form>
      {uri === undefined ? (
        <p className="muted">Choose a resource to read it here, or give its address.</p>
      ) : (
        <ReadContent key={uri} uri={uri} />
      )}
    </Section>
  );
}

function ReadContent({ uri }: { readonly uri: string }) {
  const read = useQuery(resourceQueries.read(uri));
  const news = useNews(uri, read.isSuccess);
  return (
    <div className="stack">
      <Loaded query={read}>
        {({ contents = [] }) =>
          contents.length === 0 ? (
            <p className="muted">The server answered with nothing.</p>
          ) : (
            <div className="stack">
              {contents.map((content, at) => (
                <ContentView key={at} content={content} />
              ))}
            </div>
          )
        }
      </Loaded>
      {read.data !== undefined && (
        <div className="bar-line">
          <Button isBusy={read.isFetching} onClick={() => void read.refetch()}>
            Read it again
          </Button>
          <p className="muted" role="status">
            Read at {time(new Date(read.dataUpdatedAt).toISOString())}. {newsText(news)}
          </p>
        </div>
      )}
    </div>
  );
}

/** Facts about changes: whether the server tells of them, and when it last did. */
interface News {
  readonly isTold: boolean | undefined;
  readonly changedAt: string | undefined;
}

function newsText({ isTold, changedAt }: News): string {
  if (changedAt !== undefined)
    return `The server said at ${time(changedAt)} that it has changed: this is how it is now.`;
  if (isTold === undefined) return "";
  return isTold ? "It is read again when the server says that it has changed." : "Its server does not tell of changes.";
}

/** The gateway watches for two and a half minutes. */
const renewMs = 60_000;
/** A resource may change more often than anybody can look. */
const paceMs = 2_000;

/** Watches a resource while it is shown, and reads it again when it has changed. */
function useNews(uri: string, isRead: boolean): News {
  const client = useQueryClient();
  const [changedAt, setChangedAt] = useState<string>();
  const watch = useQuery({
    queryKey: ["resource-watch", uri],
    enabled: isRead,
    queryFn: async () => await watchResource(uri),
    retry: false,
    gcTime: 0,
    // Not while the page is hidden: then it ends by itself. One that has no subscriptions will not get any; whatever
    // else went wrong may be over.
    refetchInterval: ({ state: { error } }) => (hasNone(error) ? false : renewMs),
  });
  const watched = watch.data;
  useEffect(() => {
    if (watched === undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let readMs = 0;
    const readAgain = (): void => {
      timer = undefined;
      readMs = performance.now();
      void client.invalidateQueries({ queryKey: resourceQueries.read(uri).queryKey });
    };
    const stop = onLiveEvent((event) => {
      if (!tellsOf(watched, event)) return;
      setChangedAt(new Date().toISOString());
      timer ??= setTimeout(readAgain, Math.max(0, readMs + paceMs - performance.now()));
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [client, uri, watched]);
  return {
    isTold: hasNone(watch.error) ? false : watch.isError || watched === undefined ? undefined : true,
    changedAt,
  };
}

/** Whether it was the server that refused: it has no subscriptions. */
function hasNone(error: Error | null): boolean {
  return error instanceof ApiFailure && error.code === "UPSTREAM_PROTOCOL";
}
