import { useEffect, useRef, type RefObject } from "react";

/**
 * For what shows what was chosen in a list: brought into sight when somebody chooses something else. On a narrow
 * screen it stands below the list, where nobody would notice that it changed.
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
