import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api, valueOf } from "../../api/client.ts";
import { keptSearchesKey, useOrder } from "../../api/queries.ts";
import { plain } from "../../words/format.ts";
import { placeText, unseenText } from "../../../../src/kernel/search-words.ts";
import { Button } from "../basic/button.tsx";
import { TextField } from "../forms/field.tsx";
import type { Hit } from "./search-hit.tsx";
import { FailureNote } from "../basic/states.tsx";

/** Keeps a search with the tool that it should find, to see later whether it still does. */
export function KeepSearch({ query, hits }: { readonly query: string; readonly hits: readonly Hit[] }) {
  const [tool, setTool] = useState(hits[0]?.tool_path ?? "");
  const listId = useId();
  const keep = useOrder(async () => await valueOf(api.POST("/api/searches", { body: { query, tool: tool.trim() } })), {
    changes: [keptSearchesKey],
  });
  return (
    <details className="keep">
      <summary>Keep as a test</summary>
      <form
        className="filters"
        aria-label="Keep as a test"
        onSubmit={(event) => {
          event.preventDefault();
          if (tool.trim() !== "") keep.mutate(undefined);
        }}
      >
        <TextField
          label="Tool that should be found"
          list={listId}
          size={44}
          value={tool}
          onChange={({ target }) => {
            keep.reset();
            setTool(target.value);
          }}
        />
        <datalist id={listId}>
          {hits.map(({ tool_path: path }) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <Button type="submit" isBusy={keep.isPending}>
          Keep
        </Button>
      </form>
      <p role="status">
        {keep.data === undefined ? (
          <span className="muted">It is repeated whenever you open your tests, which only you can see.</span>
        ) : (
          <>
            Kept: <code>{plain(keep.data.tool)}</code> is {placeText(keep.data.rank)}.{" "}
            {!keep.data.toolExists && <>It is not known yet whether there is such a tool: {unseenText}. </>}
            <Link to="/search" search={{ tab: "kept" }}>
              What you keep
            </Link>
          </>
        )}
      </p>
      {keep.error !== null && <FailureNote error={keep.error} />}
    </details>
  );
}
