import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { FieldFrame } from "../forms/field.tsx";
import { useRested } from "../basic/rested.ts";

interface ProposingFieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What it is part of, without its own value, so that proposals of one argument are not shown for another. */
  readonly about: string;
  readonly propose: (value: string) => Promise<readonly string[]>;
}

/** A text for which a server proposes values while somebody types. The browser's own list shows them. */
export function ProposingField({ label, hint, value, onChange, about, propose }: ProposingFieldProps) {
  const [isUsed, setUsed] = useState(false);
  const asked = useRested(value);
  const { data } = useQuery({
    queryKey: ["propose", about, asked],
    queryFn: async () => await propose(asked),
    enabled: isUsed,
    // Most servers propose nothing, and some answer with an error: then it is a field like any other.
    retry: false,
    placeholderData: (before) => before,
  });
  return (
    <FieldFrame label={label} hint={hint}>
      {(ids) => (
        <>
          <input
            {...ids}
            type="text"
            list={`${ids.id}-proposed`}
            autoComplete="off"
            spellCheck={false}
            value={value}
            onFocus={() => setUsed(true)}
            onBlur={() => setUsed(false)}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={`${ids.id}-proposed`}>
            {data?.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </>
      )}
    </FieldFrame>
  );
}
