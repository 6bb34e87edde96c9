import { useQuery } from "@tanstack/react-query";
import { isForSandbox } from "../../../../src/config/words/sandbox-words.ts";
import { isSecretName } from "../../../../src/config/words/secret-names.ts";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { Button } from "../basic/button.tsx";
import { CheckField, LinesField, TextField } from "../forms/field.tsx";
import { OrderForm, type Typed } from "../forms/order-form.tsx";
import { OutcomeNote } from "../basic/outcome-note.tsx";
import { ServerCatalog, TakenFields, type Offer } from "./server-catalog.tsx";
import { TestServer } from "./server-trial.tsx";
import { splitWords } from "../../words/words.ts";

const kinds = [
  ["catalog", "One of the catalog"],
  ["command", "A command"],
  ["target", "An address (http, https)"],
  ["package", "A package or a name of the registry"],
  ["entry", "An entry as JSON"],
] as const;

const hints: Readonly<Record<string, string>> = {
  command: "As you would type it: npx -y @modelcontextprotocol/server-memory",
  target: "https://example.com/mcp",
  entry: 'As in mcpServers: { "command": "npx", "args": ["-y", "package"], "env": {} }',
  package: "The name of a package of npm or PyPI, or io.github.owner/server. The name above may then be left out.",
};

interface Values {
  readonly kind: string;
  readonly offer: Offer | undefined;
  readonly taken: Readonly<Record<string, string>>;
  readonly name: string;
  readonly text: string;
  readonly pairs: readonly Pair[];
  /** Undefined until a person says: as it is proposed. */
  readonly sandbox: boolean | undefined;
  readonly test: boolean;
  /** Whether a person has agreed to how the entry loosens its sandbox. */
  readonly loosened: boolean;
}

const start: Values = {
  ...{ kind: "catalog", offer: undefined, taken: {}, name: "", text: "", pairs: [] },
  ...{ sandbox: undefined, test: true, loosened: false },
};

/** Whether the gateway's machine can confine a server, and what that would get. */
function useSandbox(isOpen: boolean): Schemas["SandboxHere"] | undefined {
  const { data } = useQuery({
    queryKey: ["config", "catalog", "sandbox"],
    queryFn: async () => await valueOf(api.GET("/api/catalog/sandbox")),
    enabled: isOpen,
  });
  return data;
}

/** Tries a server and adds it to the configuration, as `toolyard servers add` does. Closed, it keeps the typed text. */
export function AddServer({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const here = useSandbox(isOpen);
  const given = (values: Values) => withSandbox(toGiven(values), values, here);
  return (
    <OrderForm
      title="Add a server"
      submit={({ test }) => (test ? "Try it, and add it" : "Add it")}
      start={start}
      fields={{
        kind: { label: "What it is", choices: kinds },
        offer: ({ values: { kind, offer }, set }) =>
          kind === "catalog" &&
          isOpen && (
            <ServerCatalog
              chosen={offer}
              onChoose={(chosen) => set({ offer: chosen, taken: {}, name: chosen?.name ?? "" })}
            />
          ),
        taken: ({ values: { kind, offer, taken }, set }) =>
          kind === "catalog" &&
          offer !== undefined && (
            <>
              <code className="command-line">{offer.command}</code>
              <TakenFields offer={offer} given={taken} onChange={(next) => set({ taken: next })} />
            </>
          ),
        name: ({ values: { kind, offer, name }, set }) =>
          (kind !== "catalog" || offer !== undefined) && (
            <TextField label="Name" value={name} onChange={({ target }) => set({ name: target.value })} />
          ),
        text: (typed) => typed.values.kind !== "catalog" && <TextOfServer {...typed} />,
        pairs: ({ values: { kind, pairs }, set }) =>
          kind !== "catalog" &&
          kind !== "entry" && (
            <PairRows
              what={kind === "target" ? "header" : "variable"}
              pairs={pairs}
              onChange={(next) => set({ pairs: next })}
            />
          ),
        sandbox: (typed) => <SandboxOfServer {...typed} here={here} />,
        test: { label: "Start it once before it is added", hint: "It is written only if it answers." },
        loosened: () => null,
      }}
      isReady={(values) => toGiven(values) !== undefined}
      note={(values, isPending) => (
        <>
          <p className="muted">
            It runs on the gateway’s machine, {given(values)?.sandbox === true ? "in a sandbox" : "with your rights"}.
            Keys are kept encrypted; the file refers to them.
          </p>
          {isOpen && <TestServer given={given(values) ?? {}} isReady={toGiven(values) !== undefined && !isPending} />}
          {isPending && <p role="status">Trying it: a first start may install packages.</p>}
        </>
      )}
      send={async (values) =>
        await valueOf(
          api.POST("/api/servers", {
            body: { ...given(values), test: values.test, ...(values.loosened ? { loosened: true as const } : {}) },
          }),
        )
      }
      changes={[["status"], ["tools"], ["config"]]}
      isDone={({ ok }) => ok}
      again={({ ok, facts: [fact] }) => {
        if (ok) return undefined;
        if (fact === undefined) return { label: "Add it all the same", values: { test: false } };
        if (fact["asks"] === "loosened") return { label: "Add it with this sandbox", values: { loosened: true } };
        return fact["asks"] === "sandbox"
          ? { label: "Try it without a sandbox", values: { sandbox: false } }
          : undefined;
      }}
      result={(outcome) => <OutcomeNote outcome={outcome} done="It is added, and is starting." />}
      isOpen={isOpen}
      onClose={onClose}
    />
  );
}

interface SandboxProps extends Typed<Values> {
  readonly here: Schemas["SandboxHere"] | undefined;
}

/** Proposed as `toolyard servers add` does: for packages, but not for those that live on your own keys or files. */
function SandboxOfServer({ values, set, here }: SandboxProps) {
  const command = commandOf(values);
  if (here === undefined || command === undefined) return null;
  if (here.mode !== "off") return <p className="muted">The settings say that servers run in a sandbox here.</p>;
  if (!here.works) return <p className="muted">No sandbox can be made on this machine: {here.lacks}</p>;
  return (
    <CheckField
      label="Run it in a sandbox"
      hint={here.gets.join(" ")}
      checked={values.sandbox ?? isProposed(command)}
      onChange={({ target }) => set({ sandbox: target.checked })}
    />
  );
}

function isProposed([program = "", ...args]: readonly string[]): boolean {
  return isForSandbox(program, args);
}

/** What would be started; undefined for an address, for an entry with a sandbox, and as long as it is not known. */
function commandOf(values: Values): readonly string[] | undefined {
  const { kind, offer, text } = values;
  if (kind === "catalog") return offer === undefined || offer.program === null ? undefined : splitWords(offer.command);
  if (kind === "target" || text.trim() === "") return undefined;
  if (kind === "command") return splitWords(text);
  // Packages of npm and PyPI alike are started by a program that downloads them.
  if (kind === "package") return ["npx", text.trim()];
  const { command, args = [], sandbox } = parseEntry(text) ?? {};
  if (typeof command !== "string" || sandbox !== undefined) return undefined;
  return [command, ...(Array.isArray(args) ? args.map(String) : [])];
}

function withSandbox(
  given: Schemas["TriedServer"] | undefined,
  values: Values,
  here: Schemas["SandboxHere"] | undefined,
): Schemas["TriedServer"] | undefined {
  const command = commandOf(values);
  if (given === undefined || command === undefined || here?.works !== true || here.mode !== "off") return given;
  return (values.sandbox ?? isProposed(command)) ? { ...given, sandbox: true } : given;
}

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
function toGiven({ kind, offer, taken, name, text, pairs }: Values): Schemas["TriedServer"] | undefined {
  const named = name.trim() === "" ? {} : { name: name.trim() };
  if (kind === "catalog") return offer && { ...named, target: offer.target, ...valuesOf("env", Object.entries(taken)) };
  if (text.trim() === "") return undefined;
  const values = valuesOf(
    kind === "target" ? "headers" : "env",
    pairs.map(({ name: of, value }) => [of.trim(), value] as const),
  );
  if (kind === "command") return { ...named, ...values, command: [...splitWords(text)] };
  if (kind !== "entry") return { ...named, ...values, target: text.trim() };
  const entry = parseEntry(text);
  return entry && { ...named, entry };
}

function valuesOf(part: "env" | "headers", pairs: readonly (readonly [string, string])[]): Schemas["TriedServer"] {
  const given = pairs.filter(([name, value]) => name !== "" && value !== "");
  return given.length === 0 ? {} : { [part]: Object.fromEntries(given) };
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

interface Pair {
  readonly name: string;
  readonly value: string;
}

interface PairRowsProps {
  readonly what: "header" | "variable";
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}

/** Names and values, one below the other. Values of secrets are not shown as they are typed. */
function PairRows({ what, pairs, onChange }: PairRowsProps) {
  const change = (at: number, some: Partial<Pair>): void =>
    onChange(pairs.map((pair, place) => (place === at ? { ...pair, ...some } : pair)));
  return (
    <div role="group" aria-label={what === "header" ? "Headers" : "Variables"}>
      {pairs.map(({ name, value }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a row is its place: names are typed, and may be equal
        <div key={at} className="filters">
          <TextField
            label={`Name of ${what} ${at + 1}`}
            value={name}
            onChange={({ target }) => change(at, { name: target.value })}
          />
          <TextField
            label={`Value of ${what} ${at + 1}`}
            type={isSecretName(name) ? "password" : "text"}
            autoComplete={isSecretName(name) ? "new-password" : "off"}
            value={value}
            onChange={({ target }) => change(at, { value: target.value })}
          />
          <Button
            look="plain"
            aria-label={`Take out ${what} ${at + 1}`}
            onClick={() => onChange(pairs.filter((_, place) => place !== at))}
          >
            Take out
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...pairs, { name: "", value: "" }])}>Add a {what}</Button>
    </div>
  );
}
