import { api, valueOf, type Schemas } from "../../api/client.ts";
import { LinesField, TextField } from "../forms/field.tsx";
import { OrderForm, type Typed } from "../forms/order-form.tsx";
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

const hints: Readonly<Record<string, string>> = {
  command: "As you would type it: npx -y @modelcontextprotocol/server-memory",
  target: "https://example.com/mcp",
  entry: 'As in mcpServers: { "command": "npx", "args": ["-y", "package"], "env": {} }',
  package: "npm:package, pypi:package, or io.github.owner/server. The name may then be left out.",
};
const start = { kind: "command", name: "", text: "", test: true };

/** Tries a server and adds it to the configuration, as `toolyard servers add` does. Closed, it keeps the typed text. */
export function AddServer({ isOpen, onClose }: AddServerProps) {
  return (
    <OrderForm
      title="Add a server"
      submit={({ test }) => (test ? "Try it, and add it" : "Add it")}
      start={start}
      fields={{
        kind: { label: "What it is", choices: kinds },
        name: { label: "Name" },
        text: (typed) => <TextOfServer {...typed} />,
        test: { label: "Start it once before it is added", hint: "It is written only if it answers." },
      }}
      isReady={(values) => toGiven(values) !== undefined}
      note={(values, isPending) => (
        <>
          <p className="muted">
            This program runs on the gateway’s machine, with your rights. Values such as keys are added in Settings.
          </p>
          {isOpen && <TestServer given={toGiven(values) ?? {}} isReady={toGiven(values) !== undefined && !isPending} />}
          {isPending && <p role="status">Trying it: a first start may install packages.</p>}
        </>
      )}
      send={async (values) =>
        await valueOf(api.POST("/api/servers", { body: { ...toGiven(values), test: values.test } }))
      }
      changes={[["status"], ["tools"], ["config"]]}
      isDone={({ ok }) => ok}
      result={(outcome) => <OutcomeNote outcome={outcome} done="It is added, and is starting." />}
      isOpen={isOpen}
      onClose={onClose}
    />
  );
}

type Values = typeof start;

function TextOfServer({ values, set }: Typed<Values>) {
  const { kind, text } = values;
  const isWrong = kind === "entry" && text.trim() !== "" && toGiven(values) === undefined;
  const hint = isWrong ? "This is not a JSON object yet." : hints[kind];
  const Field = kind === "entry" ? LinesField : TextField;
  return (
    <Field
      label={kind === "entry" ? "Entry" : "Command, address or package"}
      hint={hint}
      value={text}
      onChange={({ target }) => set({ text: target.value })}
    />
  );
}

/** The request; undefined while something is missing. */
function toGiven({ kind, name, text }: Values): Schemas["TriedServer"] | undefined {
  const named = name.trim() === "" ? {} : { name: name.trim() };
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
