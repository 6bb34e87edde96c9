import { useState } from "react";
import { api, valueOf } from "../api/client.ts";
import { useOrder } from "../api/queries.ts";
import { Button } from "./button.tsx";
import { Modal } from "./confirm.tsx";
import { CheckField, SelectField, TextField } from "./field.tsx";
import { FailureNote } from "./states.tsx";
import { OutcomeNote } from "./outcome-note.tsx";
import { splitWords } from "../words/words.ts";

const kinds = [
  ["command", "A command"],
  ["target", "An address (http, https)"],
  ["package", "A package or a name of the registry"],
] as const;

/** Tries a server and adds it to the configuration, as `toolyard servers add` does. */
export function AddServer({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
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
  const hints: Readonly<Record<string, string>> = {
    command: "As you would type it: npx -y @modelcontextprotocol/server-memory",
    target: "https://example.com/mcp",
    package: "npm:package, pypi:package, or io.github.owner/server. Then the name may be left out.",
  };
  return (
    <Modal
      title="Add a server"
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <Button look="main" isBusy={add.isPending} onClick={() => add.mutate()}>
          {isTested ? "Try it, and add it" : "Add it"}
        </Button>
      }
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!add.isPending) add.mutate();
        }}
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
        {add.error !== null && <FailureNote error={add.error} />}
        {add.data !== undefined && <OutcomeNote outcome={add.data} done="It is added, and starts now." />}
      </form>
    </Modal>
  );
}
