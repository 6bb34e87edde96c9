import { outcomeOf } from "../../words/status.ts";
import { Name } from "./name.tsx";

/** How a call ended, in a word. */
export function Outcome({ call }: { readonly call: Parameters<typeof outcomeOf>[0] }) {
  const { word, tone } = outcomeOf(call);
  return (
    <span className={tone === "bad" ? "bad-text" : "muted"}>
      <Name>{word}</Name>
    </span>
  );
}
