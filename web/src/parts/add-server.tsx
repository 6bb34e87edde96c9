import { useState } from "react";
import { api, valueOf } from "../api/client.ts";
import { useOrder } from "../api/queries.ts";
import { CheckField, SelectField, TextField } from "./field.tsx";
import { OrderModal } from "./order-modal.tsx";
import { OutcomeNote } from "./outcome-note.tsx";
import { splitWords } from "../words/words.ts";

const kinds = [
  ["command", "A command"],
  ["target", "An address (http, https)"],
  ["package", "A package or a name of the registry"],
] as const;

interface AddServerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Tries a server and adds it to the configuration, as `toolyard servers add` does. Closed, it keeps what was typed. */
export function AddServer({ isOpen, onClose }: AddServerProps) {
  const [kind, setKind] = useState<string>("command");
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [isTested, setTested] = useState(true);
  const add = useOrder(
    async () => {
      const given = kind === "command" ? { command: [...splitWords(text)] } : { target: text.trim() };
      const named = name.trim() === "" ? {} : { name: name.trim() };
      return await valueOf(api.POST("/api/servers", { body: { ...given, ...named, test: isTested } }));
    },
    { changes: [["status"], ["tools"], ["config"]] },
  );
  const isDone = add.data?.ok === true;
  const close = (): void => {
    onClose();
    if (!isDone) return;
    // The next one begins anew.
    add.reset();
    setName("");
    setText("");
  };
  const hints: Readonly<Record<string, string>> = {
    command: "As you would type it: npx -y @modelcontextprotocol/server-memory",
    target: "https://example.com/mcp",
    package: "npm:package, pypi:package, or io.github.owner/server. Then the name may be left out.",
  };
  return (
    <OrderModal
      title="Add a server"
      submit={isTested ? "Try it, and add it" : "Add it"}
      order={add}
      isReady={text.trim() !== ""}
      isDone={isDone}
      isOpen={isOpen}
      onClose={close}
    >
      <SelectField label="What it is" choices={kinds} value={kind} onChange={({ target }) => setKind(target.value)} />
      <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} />
      <TextField
        label="Command, address or package"
        hint={hints[kind]}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <CheckField
        label="Start it once before it is added"
        hint="It is written only if it answers."
        checked={isTested}
        onChange={({ target }) => setTested(target.checked)}
      />
      <p className="muted">
        This program runs on the machine of the gateway, with your rights. Values such as keys are added in Settings.
      </p>
      {add.isPending && <p role="status">Trying it: a first start may install packages.</p>}
      {add.data !== undefined && <OutcomeNote outcome={add.data} done="It is added, and starts now." />}
    </OrderModal>
  );
}
