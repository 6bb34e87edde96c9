import type { ReactNode } from "react";
import { degradedText } from "../../../../src/kernel/search-words.ts";
import type { Schemas } from "../../api/client.ts";
import { count, plain } from "../../words/format.ts";
import { KeepSearch } from "./keep-search.tsx";
import { HitRow, StrengthLegend, type Hit } from "./search-hit.tsx";
import { Empty } from "../basic/states.tsx";

interface NeedProps {
  readonly need: Schemas["SearchReport"]["queries"][number];
  readonly isOnly: boolean;
  /** How many of each ranking were asked for. */
  readonly limit: number;
  /** Not what was searched as somebody else. */
  readonly mayKeep: boolean;
  /** What words alone and embeddings alone find, where embeddings are configured. */
  readonly alone:
    | {
        readonly words: readonly Hit[];
        readonly meaning: readonly Hit[];
        /** Why `meaning` is not the ranking by embeddings, where it is not. */
        readonly degraded: string | null;
      }
    | undefined;
}

/** One need, and beside it what it was made of: the ranking by words alone, and that by meaning alone. */
export function Need({ need, isOnly, limit, mayKeep, alone }: NeedProps) {
  // No level is left out where the need has no heading of its own.
  const Heading = isOnly ? "h2" : "h3";
  return (
    <section aria-label={`Found for ${plain(need.query)}`}>
      {!isOnly && (
        <>
          <h2>{plain(need.query)}</h2>
          <p className="muted">
            {count(need.tools.length)} of {count(need.total_found)}
            {need.match !== null && `, ${need.match === "none" ? "no" : need.match} match`}
          </p>
        </>
      )}
      {mayKeep && <KeepSearch key={need.query} query={need.query} hits={need.tools} />}
      <div className={alone === undefined ? "stack" : "columns ranked"}>
        <div>
          {alone !== undefined && <Heading>Words and embeddings, as a model gets them</Heading>}
          {need.tools.length === 0 && (
            <Empty title="Nothing fits">
              <p>A model would be told the same. Other words, or a description in the configuration, may help.</p>
            </Empty>
          )}
          {need.tools.length > 0 && <StrengthLegend />}
          <ol className="hits">
            {need.tools.map((tool) => (
              <HitRow
                key={tool.tool_path}
                tool={tool}
                note={alone === undefined || alone.degraded !== null ? "" : placesNote(tool, alone, limit)}
              />
            ))}
          </ol>
        </div>
        {alone !== undefined && (
          <>
            <Ranking title={<Heading>Words alone</Heading>} hits={alone.words} />
            {alone.degraded === null ? (
              <Ranking title={<Heading>Embeddings alone</Heading>} hits={alone.meaning} />
            ) : (
              <div>
                <Heading>Embeddings alone</Heading>
                <p className="note warn">Searched {plain(degradedText(alone.degraded))}.</p>
              </div>
            )}
          </>
        )}
      </div>
    </section>
  );
}

function Ranking({ title, hits }: { readonly title: ReactNode; readonly hits: readonly Hit[] }) {
  return (
    <div>
      {title}
      <ol className="hits">
        {hits.map((tool) => (
          <HitRow key={tool.tool_path} tool={tool} note="" />
        ))}
      </ol>
    </div>
  );
}

/** `1 by words, 4 by meaning`: where a tool would stand by one of them alone. */
function placesNote({ tool_path: path }: Hit, alone: NonNullable<NeedProps["alone"]>, limit: number): string {
  const place = (hits: readonly Hit[]): string => {
    const at = hits.findIndex((hit) => hit.tool_path === path);
    return at === -1 ? `not among the first ${limit}` : `number ${at + 1}`;
  };
  return `${place(alone.words)} by words alone, ${place(alone.meaning)} by meaning alone`;
}
