import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Modal } from "./parts/forms/confirm.tsx";
import { Facts } from "./parts/basic/facts.tsx";
import { pagesFor } from "./pages-list.ts";
import type { Session } from "./api/session.ts";

/** Keys that work everywhere but where somebody types; Ctrl K works there, too. */
export function Keys({ session, onSearch }: { readonly session: Session; readonly onSearch: () => void }) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const { use, run } = pagesFor(session);
  const pages = [...use, ...run];
  const isGoing = useRef(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isPalette = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
      const isOther = event.ctrlKey || event.metaKey || event.altKey || isTyping(event);
      const page = isGoing.current && !isOther ? pages.find(({ key }) => key === event.key) : undefined;
      isGoing.current = !isOther && event.key === "g";
      if (isPalette || (!isOther && event.key === "/")) {
        event.preventDefault();
        onSearch();
      } else if (page !== undefined) void navigate({ to: page.to });
      else if (!isOther && event.key === "?") setOpen(true);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  const keys = [
    ["Search or do", "Ctrl K"],
    ["The same", "/"],
    ...pages.map(({ label, key }) => [label, `g ${key}`] as const),
    ["These keys", "?"],
  ] as const;
  return (
    <Modal title="Keys" isOpen={isOpen} onClose={() => setOpen(false)}>
      <Facts facts={keys.map(([about, key]) => [about, <kbd key={key}>{key}</kbd>])} />
    </Modal>
  );
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
