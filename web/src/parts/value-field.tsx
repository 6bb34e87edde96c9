import type { ReactNode } from "react";
import { plain } from "../words/format.ts";
import { SelectField, TextField } from "./field.tsx";

/** What a form knows of one value of a server. */
export interface ValueFacts {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string | null;
  readonly choices: readonly string[] | null;
  /** Whether somebody else decides: then it is only shown. */
  readonly isLocked: boolean;
  /** What stands beside it: who gives it, what it is without. */
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

/** What is typed, as the gateway takes it: further arguments are a list, and nothing takes a value away. */
export function toGivenValue(path: string, text: string): string | string[] | null {
  if (text === "") return null;
  return path === "args" ? text.split(/\s+/).filter((word) => word !== "") : text;
}

export function toTypedValue(value: string | readonly string[] | null): string {
  if (value === null) return "";
  return typeof value === "string" ? value : value.join(" ");
}
