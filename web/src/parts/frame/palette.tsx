import { Dialog } from "@base-ui/react/dialog";
import { Search } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { ServerIcon } from "../servers/server-icon.tsx";
import { usePaletteRows, type PaletteRow } from "./palette-rows.ts";

/** One place for every server, tool, page and action. The arrow keys choose, Enter opens, Escape closes. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  // By its id and not its place: rows that arrive later may not move the choice to another row.
  const [chosenId, setChosenId] = useState<string>();
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const groups = usePaletteRows(text, onClose);
  const rows = groups.flatMap((group) => group.rows);
  const chosen = rows.find(({ id }) => id === chosenId) ?? rows[0];
  const idOf = (row: PaletteRow): string => `${list} ${row.id}`.replaceAll(/\s/g, "-");
  useEffect(() => {
    if (chosen !== undefined) document.getElementById(idOf(chosen))?.scrollIntoView({ block: "nearest" });
  });
  const move = (by: number): void => {
    const from = chosen === undefined ? 0 : rows.indexOf(chosen);
    setChosenId(rows[(from + by + rows.length) % rows.length]?.id);
  };
  const onKey = (event: React.KeyboardEvent): void => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") chosen?.run();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette" initialFocus={input}>
          <Dialog.Title className="hidden">Search or do</Dialog.Title>
          <div className="palette-head">
            <Search aria-hidden size={16} />
            <input
              ref={input}
              role="combobox"
              autoFocus
              aria-label="Servers, tools, pages and actions"
              aria-expanded
              aria-controls={list}
              aria-autocomplete="list"
              aria-activedescendant={chosen === undefined ? undefined : idOf(chosen)}
              placeholder="Server, tool, page or action"
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={({ target }) => {
                setText(target.value);
                setChosenId(undefined);
              }}
              onKeyDown={onKey}
            />
            <kbd>Esc</kbd>
          </div>
          <div id={list} role="listbox" aria-label="Found" className="palette-list">
            {groups.map(({ title, rows: own }) => (
              <div key={title} role="group" aria-label={title}>
                <p className="palette-title" aria-hidden>
                  {title}
                </p>
                {own.map((row) => (
                  <div
                    key={row.id}
                    id={idOf(row)}
                    role="option"
                    aria-selected={row === chosen}
                    className="palette-row"
                    onPointerMove={() => row !== chosen && setChosenId(row.id)}
                    onClick={row.run}
                  >
                    <Sign icon={row.icon} />
                    <span className="palette-name">{row.name}</span>
                    <span className="muted palette-about">{row.about}</span>
                  </div>
                ))}
              </div>
            ))}
          </div>
          <p className="palette-foot">
            <span>
              <kbd>↑</kbd> <kbd>↓</kbd> choose
            </span>
            <span>
              <kbd>Enter</kbd> open
            </span>
            <span>
              <kbd>&gt;</kbd> actions only
            </span>
            <span className="hidden" role="status">
              {rows.length} found
            </span>
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Sign({ icon }: Pick<PaletteRow, "icon">) {
  if ("server" in icon) return <ServerIcon name={icon.server} />;
  const Icon = icon;
  return <Icon aria-hidden size={15} />;
}
