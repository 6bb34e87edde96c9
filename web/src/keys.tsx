import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Modal } from "./parts/basic/confirm.tsx";
import { Facts } from "./parts/basic/facts.tsx";

const keys = [
  ["/", "Find a tool"],
  ["g o", "Overview"],
  ["g s", "Servers"],
  ["g t", "Tools"],
  ["g c", "Calls"],
  ["g l", "Logs and events"],
  ["?", "These keys"],
] as const;

const pages = { o: "/", s: "/servers", t: "/tools", c: "/calls", l: "/logs" } as const;

/** Keys that work everywhere but where somebody types. */
export function Keys() {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let isGoing = false;
    const onKey = (event: KeyboardEvent): void => {
      const target = event.composedPath()[0];
      const isTyping =
        target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const to = isGoing ? pages[event.key as keyof typeof pages] : undefined;
      isGoing = event.key === "g";
      if (to !== undefined) void navigate({ to });
      else if (event.key === "?") setOpen(true);
      else if (event.key === "/") {
        event.preventDefault();
        document.getElementById("find")?.focus();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [navigate]);
  return (
    <Modal title="Keys" isOpen={isOpen} onClose={() => setOpen(false)}>
      <Facts facts={keys.map(([key, about]) => [about, <kbd key={key}>{key}</kbd>])} />
    </Modal>
  );
}
