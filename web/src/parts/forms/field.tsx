import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react";

interface LabelProps {
  readonly label: string;
  readonly hint?: ReactNode;
}

interface FrameProps extends LabelProps {
  /** The field itself, with the id that its label has and that of its hint. */
  readonly children: (ids: { readonly id: string; readonly "aria-describedby": string | undefined }) => ReactNode;
}

/** A field with its label above it and a hint below. */
export function FieldFrame({ label, hint, children }: FrameProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": hintId })}
      {hint !== undefined && (
        <p id={hintId} className="muted">
          {hint}
        </p>
      )}
    </div>
  );
}

export function TextField({ label, hint, ...rest }: LabelProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <FieldFrame label={label} hint={hint}>
      {(ids) => <input {...ids} type="text" autoComplete="off" spellCheck={false} {...rest} />}
    </FieldFrame>
  );
}

/** A text of several lines, as high as it needs to be. */
export function LinesField({ label, hint, ...rest }: LabelProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const lines = String(rest.value ?? "").split("\n").length;
  return (
    <FieldFrame label={label} hint={hint}>
      {(ids) => (
        <textarea {...ids} rows={Math.min(8, Math.max(2, lines))} autoComplete="off" spellCheck={false} {...rest} />
      )}
    </FieldFrame>
  );
}

interface SelectProps extends LabelProps, SelectHTMLAttributes<HTMLSelectElement> {
  readonly choices: readonly (readonly [value: string, text: string])[];
}

export function SelectField({ label, hint, choices, ...rest }: SelectProps) {
  return (
    <FieldFrame label={label} hint={hint}>
      {(ids) => (
        <select {...ids} {...rest}>
          {choices.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}

export function CheckField({ label, hint, ...rest }: LabelProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      <span>
        {label}
        {hint !== undefined && <span className="muted"> {hint}</span>}
      </span>
    </label>
  );
}
