import { useVirtualizer } from "@tanstack/react-virtual";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Schemas } from "../../api/client.ts";
import { Name } from "../basic/name.tsx";
import { fullTime, plain, time } from "../../words/format.ts";

type Line = Schemas["LogLine"];

interface LogRowsProps {
  /** The oldest first. */
  readonly lines: readonly Line[];
  readonly isWrapped: boolean;
  /** Whether all are of one instance, whose name then need not stand in each. */
  readonly isOfOne: boolean;
  /** Whether the newest is kept in sight. */
  readonly isFollowing: boolean;
  readonly onFollow: (isFollowing: boolean) => void;
}

const rowPx = 23;
/** Lines that are ready above and below those in sight: a short log is there as a whole, and can be searched. */
const overscan = 30;
/** So near to the end, somebody who scrolls means the end. */
const endPx = 24;

/** A log of any length: only visible lines are rendered. The lines in view stay in place when older ones are added. */
export function LogRows({ lines, isWrapped, isOfOne, isFollowing, onFollow }: LogRowsProps) {
  const place = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => place.current,
    estimateSize: () => rowPx,
    overscan,
    getItemKey: (at) => (lines[at] as Line).id,
    anchorTo: "end",
    scrollEndThreshold: endPx,
  });
  const newest = lines.at(-1)?.id;
  useEffect(() => {
    if (isFollowing && newest !== undefined) virtual.scrollToEnd();
  }, [isFollowing, newest, isWrapped, virtual]);
  return (
    <div
      ref={place}
      className={`log ${isWrapped ? "wrap" : ""}`}
      role="log"
      aria-label="Log"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        // Lines grow when they are measured, and the end moves away by itself: only who scrolls up leaves it.
        if (scrollHeight - scrollTop - clientHeight < endPx) onFollow(true);
        else if (scrollTop < lastTop.current) onFollow(false);
        lastTop.current = scrollTop;
      }}
    >
      <div className="rows" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => (
          <div
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            className="virtual"
            style={{ transform: `translateY(${start}px)` }}
          >
            <LogRow line={lines[index] as Line} isOfOne={isOfOne} />
          </div>
        ))}
      </div>
    </div>
  );
}

function LogRow({ line, isOfOne }: { readonly line: Line; readonly isOfOne: boolean }) {
  return (
    <div className={`log-line ${line.level}`}>
      <time dateTime={line.time} title={fullTime(line.time)}>
        {time(line.time)}
      </time>
      {!isOfOne && (
        <Link to="/servers/$server" params={{ server: line.server }} search={{ instance: line.instance, tab: "log" }}>
          <Name>{line.server}</Name>
        </Link>
      )}
      <span className="level">{line.level}</span>
      <span className="text">{plain(line.line)}</span>
    </div>
  );
}
