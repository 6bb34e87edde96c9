import type { ReactNode } from "react";
import { plain } from "../../words/format.ts";

/** A name and its value. Texts may come from servers: control characters in them are made visible. */
export type Fact = readonly [name: string, value: ReactNode];

/** The facts about one thing, name by name. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? plain(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}
