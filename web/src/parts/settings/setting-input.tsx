import { useEffect, useState } from "react";
import { plain } from "../../words/format.ts";
import type { SettingField } from "../../words/settings/setting-fields.ts";
import { CheckField, LinesField, SelectField, TextField } from "../forms/field.tsx";

interface SettingInputProps {
  readonly field: Pick<SettingField, "name" | "kind" | "choices" | "min" | "max">;
  readonly value: unknown;
  readonly isFixed: boolean;
  readonly onTyping: (isTyping: boolean) => void;
  readonly onChange: (value: unknown) => void;
}

/** The typed value is taken when the field is left, or with Enter. */
export function SettingInput({ field, value, isFixed, onTyping, onChange }: SettingInputProps) {
  const { name, kind, choices, min, max } = field;
  const given = toText(kind, value);
  const [typed, setTyped] = useState(given);
  const [wrong, setWrong] = useState<string>();
  // The field stays the same one, so that it keeps the focus.
  useEffect(() => {
    setTyped(given);
    setWrong(undefined);
  }, [given]);
  if (kind === "boolean")
    return (
      <CheckField
        label={name}
        checked={value === true}
        disabled={isFixed}
        onChange={({ target }) => onChange(target.checked)}
      />
    );
  if (kind === "choice")
    return (
      <SelectField
        label={name}
        choices={[
          ...(given === "" ? ([["", "Choose one"]] as const) : []),
          ...choices.map((choice) => [choice, choice] as const),
        ]}
        value={given}
        disabled={isFixed}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  const commit = (): void => {
    onTyping(false);
    if (typed === given) return;
    const read = fromText(kind, typed);
    if (read === undefined) setWrong(kind === "pairs" ? "Each line is NAME=value." : "A whole number is needed.");
    else {
      setWrong(undefined);
      if (toText(kind, read) === given) setTyped(given);
      else onChange(read);
    }
  };
  const hint = wrong === undefined ? {} : { hint: <span className="bad-text">{wrong}</span>, "aria-invalid": true };
  const type = (text: string): void => {
    setTyped(text);
    onTyping(text !== given);
  };
  if (kind === "lines" || kind === "pairs")
    return (
      <LinesField
        label={kind === "lines" ? `${name} (one in each line)` : `${name} (NAME=value in each line)`}
        {...hint}
        disabled={isFixed}
        value={typed}
        onChange={({ target }) => type(target.value)}
        onBlur={commit}
      />
    );
  return (
    <TextField
      label={kind === "list" ? `${name} (with commas between them)` : name}
      {...hint}
      inputMode={kind === "number" ? "numeric" : "text"}
      {...(kind === "number" ? { placeholder: `${min ?? ""} to ${max ?? ""}` } : {})}
      disabled={isFixed}
      value={plain(typed)}
      onChange={({ target }) => type(target.value)}
      onBlur={commit}
      onKeyDown={({ key }) => void (key === "Enter" && commit())}
    />
  );
}

function toText(kind: SettingField["kind"], value: unknown): string {
  if (value === undefined || value === null) return "";
  if (kind === "lines" && Array.isArray(value)) return value.map(String).join("\n");
  if (kind === "pairs")
    return Object.entries(value)
      .map(([name, text]) => `${name}=${String(text)}`)
      .join("\n");
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  return JSON.stringify(value);
}

/** Undefined for a text that is no value of this kind. Variables (`${NAME}`) may be of any. */
function fromText(kind: SettingField["kind"], text: string): unknown {
  const trimmed = text.trim();
  if (kind === "lines") return text.split("\n").filter((line) => line !== "");
  if (kind === "pairs") {
    const pairs = text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => /^([^=]+)=(.*)$/.exec(line));
    return pairs.includes(null) ? undefined : Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim(), pair?.[2]]));
  }
  if (kind === "list") return trimmed === "" ? [] : trimmed.split(",").map((one) => one.trim());
  if (kind !== "number" || trimmed.includes("${")) return trimmed;
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}
