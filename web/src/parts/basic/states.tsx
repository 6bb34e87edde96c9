import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { toFailure } from "../../api/failure.ts";
import { plain } from "../../words/format.ts";
import { Button } from "./button.tsx";
import { Page } from "../page.tsx";

/** Shown in place of an empty list: why it is empty, and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Why something could not be done, and what to do about it. */
export function FailureNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { message, hint, code, data } = toFailure(error);
  const { closest } = data;
  return (
    <div className="note bad" role="alert">
      <CircleAlert aria-hidden size={16} />
      <div>
        <p>
          {plain(message)} <span className="muted">({code})</span>
        </p>
        {hint !== "" && <p className="muted">{plain(hint)}</p>}
        {Array.isArray(closest) && closest.length > 0 && (
          <p className="muted">Closest: {plain(closest.map(String).join(", "))}</p>
        )}
        {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
      </div>
    </div>
  );
}

/** A place that is not known yet. Never a number. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="hidden">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} className="bone" aria-hidden />
      ))}
    </div>
  );
}

/** One query in its states: known data is shown, also while it is read again. */
export function Loaded<T>({ query, lines, children }: LoadedProps<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <FailureNote error={query.error} onRetry={() => void query.refetch()} />;
  return <Skeleton {...(lines === undefined ? {} : { lines })} />;
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}

/** The same where the whole page hangs on it: until then the page has the name under which it was asked for. */
export function LoadedPage<T>({ query, title, children }: LoadedProps<T> & { readonly title: string }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  return (
    <Page title={plain(title)}>
      <Loaded query={query} lines={8}>
        {children}
      </Loaded>
    </Page>
  );
}
