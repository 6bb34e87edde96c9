import { Undo2, X } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { toFailure } from "../../api/failure.ts";
import { dismiss, noticeStore, notify, type Notice } from "../../api/notices.ts";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";

/** Long enough to read it and to reach its button; it stays while the pointer or the focus is in it. */
const shownMs = 10_000;

/** What was changed last, each with the way back where there is one. */
export function Notices() {
  const notices = useSyncExternalStore(noticeStore.subscribe, noticeStore.get);
  const [isHeld, setHeld] = useState(false);
  return (
    <div
      className="notices"
      role="region"
      aria-label="Notices"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div role="status">
        {notices.map((notice) => (
          <Shown key={notice.id} notice={notice} isHeld={isHeld} />
        ))}
      </div>
    </div>
  );
}

function Shown({ notice: { id, text, undo }, isHeld }: { readonly notice: Notice; readonly isHeld: boolean }) {
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (isHeld || isBusy) return undefined;
    const timer = setTimeout(() => dismiss(id), shownMs);
    return () => clearTimeout(timer);
  }, [id, isHeld, isBusy]);
  const takeBack = async (): Promise<void> => {
    setBusy(true);
    try {
      await undo?.();
      notify({ text: "Undone." });
    } catch (error) {
      const { message, hint } = toFailure(error);
      notify({ text: `It could not be undone: ${message} ${hint}` });
    }
    dismiss(id);
  };
  return (
    <div className="notice">
      <span className="grow">{plain(text)}</span>
      {undo !== undefined && (
        <Button isBusy={isBusy} onClick={() => void takeBack()}>
          <Undo2 aria-hidden size={14} /> Undo
        </Button>
      )}
      <Button look="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
        <X aria-hidden size={14} />
      </Button>
    </div>
  );
}
