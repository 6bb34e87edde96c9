import { useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries.ts";
import { count, counted, plain } from "../../words/format.ts";
import { SelectField } from "../forms/field.tsx";

interface ProfileChoiceProps {
  /** Empty for everything. */
  readonly value: string;
  readonly onChange: (profile: string) => void;
}

/** Which of the sets of servers and tools a client is to have; nothing where the configuration has none. */
export function ProfileChoice({ value, onChange }: ProfileChoiceProps) {
  const { data } = useQuery(queries.profiles);
  const profiles = data?.profiles ?? [];
  if (profiles.length === 0) return null;
  const chosen = profiles.find(({ name }) => name === value);
  const hint =
    chosen === undefined
      ? "All servers that you may use."
      : `${plain(chosen.servers.join(", ") || "no server")}; ${counted(chosen.outside, "tool")} outside it.`;
  return (
    <SelectField
      label="Profile"
      hint={hint}
      choices={[
        ["", "Everything"],
        ...profiles.map(
          ({ name, tools, tokens }) =>
            [name, `${name} (${counted(tools, "tool")}, a list of ${count(tokens)} tokens)`] as const,
        ),
      ]}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

/** The address of a profile, or of everything. */
export function addressOf(profile: string): string {
  return `${location.origin}/mcp${profile === "" ? "" : `/p/${profile}`}`;
}
