import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { count, counted, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { TextField } from "../forms/field.tsx";
import { Segments } from "../basic/segments.tsx";
import { FailureNote, Loaded } from "../basic/states.tsx";

type Pins = Schemas["PinList"];
type Way = "configured" | "auto" | "own";

const ways = [
  ["configured", "As configured"],
  ["auto", "Those I use most"],
  ["own", "My own choice"],
] as const;

/** Which tools this person's clients see beside the four, and what that costs. */
export function PinnedTools() {
  const pins = useQuery(queries.pins);
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="keep" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Pinned tools
        {pins.data !== undefined && <span className="muted">: {summaryOf(pins.data)}</span>}
      </summary>
      {isOpen && (
        <Loaded query={pins} lines={3}>
          {(known) => <Choice pins={known} />}
        </Loaded>
      )}
    </details>
  );
}

function summaryOf({ tools, tokens }: Pins): string {
  const listed = tools.filter(({ name }) => name !== null).length;
  const unused = tools.length - listed;
  if (tools.length === 0) return "none";
  return `${counted(listed, "tool")}, ${counted(tokens, "token")} in each conversation${unused === 0 ? "" : `, ${count(unused)} unused`}`;
}

function Choice({ pins }: { readonly pins: Pins }) {
  const choose = useOrder(
    async (own: Pins["own"]) =>
      await valueOf(own === null ? api.DELETE("/api/pins") : api.PUT("/api/pins", { body: { pins: own } })),
    {
      changes: [queries.pins.queryKey, queries.tokens.queryKey],
      said: () => ({
        text: "The pinned tools are changed.",
        undo: async () =>
          await valueOf(
            pins.own === null ? api.DELETE("/api/pins") : api.PUT("/api/pins", { body: { pins: pins.own } }),
          ),
      }),
    },
  );
  const paths = pins.tools.map(({ tool_path: path }) => path);
  const way: Way = pins.own === null ? "configured" : pins.own === "auto" ? "auto" : "own";
  const choiceOf = { configured: null, auto: "auto", own: paths } as const;
  return (
    <>
      <p className="muted">
        Your clients list these tools, so models call them without a search. Each costs its definition in every
        conversation. Open conversations keep the list they began with.
      </p>
      <Segments
        label="Pinned tools"
        tabs={ways}
        chosen={way}
        onChoose={(next) => {
          const own = choiceOf[next];
          choose.mutate(own === null || own === "auto" ? own : [...own]);
        }}
      />
      <ul className="pins" aria-label="Pinned tools">
        {pins.tools.map((tool) => (
          <li key={tool.tool_path}>
            <Pinned tool={tool} />
            {way === "own" && (
              <Button
                look="plain"
                aria-label={`Remove ${plain(tool.tool_path)}`}
                onClick={() => choose.mutate(paths.filter((path) => path !== tool.tool_path))}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      {way === "auto" && pins.tools.length === 0 && (
        <p className="muted">Nothing yet. Tools count that you used in two or more hours of the last 30 days.</p>
      )}
      {way === "own" && paths.length < pins.most && (
        <Add taken={paths} isBusy={choose.isPending} onAdd={(path) => choose.mutate([...paths, path])} />
      )}
      {way === "own" && paths.length >= pins.most && <p className="muted">No more tools can be pinned.</p>}
      {choose.error !== null && <FailureNote error={choose.error} />}
    </>
  );
}

function Pinned({ tool }: { readonly tool: Pins["tools"][number] }) {
  const { tool_path: path, name, tokens, near } = tool;
  if (name === null)
    return (
      <span>
        <code>{plain(path)}</code> <span className="bad-text">is unused: there is no such tool for you.</span>
        {near.length > 0 && <span className="muted"> Did you mean {near.map(plain).join(", ")}?</span>}
      </span>
    );
  return (
    <span>
      <Link to="/run/$tool" params={{ tool: path }}>
        <code>{plain(path)}</code>
      </Link>{" "}
      <span className="muted">
        as {plain(name)}, {counted(tokens ?? 0, "token")}
      </span>
    </span>
  );
}

/** Of so many tools that contain what was typed, the browser makes a list. */
const mostOffered = 50;

interface AddProps {
  readonly taken: readonly string[];
  readonly isBusy: boolean;
  readonly onAdd: (path: string) => void;
}

function Add({ taken, isBusy, onAdd }: AddProps) {
  const [path, setPath] = useState("");
  const tools = useQuery(queries.tools);
  const listId = useId();
  const words = path.trim().toLowerCase();
  const offered = (tools.data ?? [])
    .map((tool) => tool.tool_path)
    .filter((known) => known.toLowerCase().includes(words) && !taken.includes(known))
    .slice(0, mostOffered);
  return (
    <form
      className="filters"
      aria-label="Pin a tool"
      onSubmit={(event) => {
        event.preventDefault();
        if (words === "") return;
        onAdd(path.trim());
        setPath("");
      }}
    >
      <TextField
        label="Tool"
        placeholder="server:tool"
        list={listId}
        size={44}
        value={path}
        onChange={({ target }) => setPath(target.value)}
      />
      <datalist id={listId}>
        {offered.map((known) => (
          <option key={known} value={known} />
        ))}
      </datalist>
      <Button type="submit" isBusy={isBusy}>
        Pin
      </Button>
    </form>
  );
}
