import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { CheckField, LinesField, SelectField, TextField } from "../basic/field.tsx";
import { OrderModal } from "../basic/order-modal.tsx";
import { OutcomeNote } from "../basic/outcome-note.tsx";
import { TestServer } from "./server-trial.tsx";
import { splitWords } from "../../words/words.ts";

const kinds = [
  ["command", "A command"],
  ["target", "An address (http, https)"],
  ["package", "A package or a name of the registry"],
  ["entry", "An entry as JSON"],
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
  const given = toGiven(kind, name.trim(), text);
  const add = useOrder(async () => await valueOf(api.POST("/api/servers", { body: { ...given, test: isTested } })), {
    changes: [["status"], ["tools"], ["config"]],
  });
  const isDone = add.data?.ok === true;
  const close = (): void => {
    onClose();
    if (!isDone) return;
    // The next one begins with an empty form.
    add.reset();
    setName("");
    setText("");
  };
  const hints: Readonly<Record<string, string>> = {
    command: "As you would type it: npx -y @modelcontextprotocol/server-memory",
    target: "https://example.com/mcp",
    entry: 'As in mcpServers: { "command": "npx", "args": ["-y", "package"], "env": {} }',
    package: "npm:package, pypi:package, or io.github.owner/server. Then the name may be left out.",
  };
  return (
    <OrderModal
      title="Add a server"
      submit={isTested ? "Try it, and add it" : "Add it"}
      order={add}
      isReady={given !== undefined}
      isDone={isDone}
      isOpen={isOpen}
      onClose={close}
    >
      <SelectField label="What it is" choices={kinds} value={kind} onChange={({ target }) => setKind(target.value)} />
      <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} />
      {kind === "entry" ? (
        <LinesField
          label="Entry"
          hint={text.trim() === "" || given !== undefined ? hints[kind] : "This is no JSON object yet."}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      ) : (
        <TextField
          label="Command, address or package"
          hint={hints[kind]}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <CheckField
        label="Start it once before it is added"
        hint="It is written only if it answers."
        checked={isTested}
        onChange={({ target }) => setTested(target.checked)}
      />
      <p className="muted">
        This program runs on the machine of the gateway, with your rights. Values such as keys are added in Settings.
      </p>
      {isOpen && !isDone && <TestServer given={given ?? {}} isReady={given !== undefined && !add.isPending} />}
      {add.isPending && <p role="status">Trying it: a first start may install packages.</p>}
      {add.data !== undefined && <OutcomeNote outcome={add.data} done="It is added, and starts now." />}
    </OrderModal>
  );
}

/** The request; undefined while something is missing. */
function toGiven(kind: string, name: string, text: string): Schemas["TriedServer"] | undefined {
  const named = name === "" ? {} : { name };
  if (text.trim() === "") return undefined;
  if (kind === "command") return { ...named, command: [...splitWords(text)] };
  if (kind !== "entry") return { ...named, target: text.trim() };
  const entry = parseEntry(text);
  return entry && { ...named, entry };
}

function parseEntry(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
