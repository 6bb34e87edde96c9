import { useEffect, useRef, type RefObject } from "react";

/**
 * For the details of the item chosen in a list: scrolled into view when another item is chosen. On a narrow screen they
 * are below the list, where a change would go unnoticed.
 */
export function useInSight(chosen: string | undefined): RefObject<HTMLElement | null> {
  const place = useRef<HTMLElement>(null);
  const shown = useRef(chosen);
  useEffect(() => {
    if (chosen === shown.current) return;
    shown.current = chosen;
    place.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return place;
}
