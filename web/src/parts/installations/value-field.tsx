import type { ReactNode } from "react";
import { plain } from "../../words/format.ts";
import { LinesField, SelectField, TextField } from "../forms/field.tsx";

/** What a form knows of one value of a server. */
export interface ValueFacts {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string | null;
  readonly choices: readonly string[] | null;
  /** Whether somebody else decides: then it is only shown. */
  readonly isLocked: boolean;
  /** The note beside it: who gives it, what it is without. */
  readonly note: ReactNode;
}

interface ValueFieldProps {
  readonly facts: ValueFacts;
  /** Words for `args`, one on each line. Empty: not given. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** One value of a server: a text, a secret that is never shown, a number, a choice, or further arguments. */
export function ValueField({ facts, value, onChange }: ValueFieldProps) {
  const { path, type, required, description, choices, isLocked, note } = facts;
  const label = `${plain(path)}${required ? " (needed)" : ""}`;
  const hint = (
    <>
      {description !== null && <>{plain(description)} </>}
      {note}
    </>
  );
  const options = type === "boolean" ? ["true", "false"] : choices;
  if (options !== null)
    return (
      <div>
        <SelectField
          label={label}
          choices={[["", "not given"], ...options.map((choice) => [choice, plain(choice)] as const)]}
          value={value}
          disabled={isLocked}
          onChange={({ target }) => onChange(target.value)}
        />
        <p className="muted">{hint}</p>
      </div>
    );
  if (path === "args")
    return (
      <LinesField
        label={`${label}, one on each line`}
        hint={hint}
        disabled={isLocked}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  return (
    <TextField
      label={label}
      hint={hint}
      type={type === "secret" ? "password" : type === "number" ? "number" : "text"}
      autoComplete={type === "secret" ? "new-password" : "off"}
      disabled={isLocked}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
