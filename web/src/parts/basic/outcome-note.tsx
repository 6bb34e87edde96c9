import type { Schemas } from "../../api/client.ts";
import { plain } from "../../words/format.ts";

/** What a command said, as a terminal would show it. */
export function OutcomeNote({ outcome, done }: { readonly outcome: Schemas["OrderOutcome"]; readonly done: string }) {
  return (
    <div className={`note ${outcome.ok ? "good" : "bad"}`} role={outcome.ok ? "status" : "alert"}>
      <div className="grow">
        <p>{outcome.ok ? done : "Nothing was changed."}</p>
        {outcome.text !== "" && (
          <pre tabIndex={0} className="wrap">
            {plain(outcome.text)}
          </pre>
        )}
      </div>
    </div>
  );
}
