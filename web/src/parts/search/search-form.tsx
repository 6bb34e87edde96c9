import { useState, useSyncExternalStore } from "react";
import { sessionStore } from "../../api/session.ts";
import { Button } from "../basic/button.tsx";
import { SelectField, TextField } from "../forms/field.tsx";

/** As they are in the address; absent for the default. */
interface SearchChoices {
  /** The other person for whom it is searched. */
  readonly as?: string;
  readonly limit?: string;
  readonly detail?: string;
}

type Asked = { readonly [Name in keyof SearchChoices]: SearchChoices[Name] | undefined };

interface SearchFormProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly asked: Asked;
  /** Called for the words as they stand there. */
  readonly onSearch: (choices: SearchChoices) => void;
  /** Called for what was searched last, to be searched otherwise. */
  readonly onChoose: (choices: SearchChoices) => void;
}

/** 10 is what a model gets that does not ask for another number; a person looks further. */
const limits = ["5", "10", "20", "50"] as const;
const usualLimit = 20;
/** What a model may ask for, and gets where it does not. */
const details = [
  ["names", "Names"],
  ["signature", "Signatures"],
  ["schema", "Schemas"],
] as const;
const usualDetail = "signature";

/** How many tools an address asks for. */
export function limitOf(asked: string | undefined): number {
  return limits.some((one) => one === asked) ? Number(asked) : usualLimit;
}

/** How much of each tool an address asks for. */
export function detailOf(asked: string | undefined): (typeof details)[number][0] {
  return details.find(([name]) => name === asked)?.[0] ?? usualDetail;
}

/** The words of a trial, and how they are searched. */
export function SearchForm({ text, onText, asked, onSearch, onChoose }: SearchFormProps) {
  const session = useSyncExternalStore(sessionStore.subscribe, sessionStore.get);
  const isAdmin = session.kind === "in" && session.session.roles.includes("admin");
  const [person, setPerson] = useState(asked.as ?? "");
  return (
    <form
      className="filters"
      role="search"
      aria-label="Trial"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(given({ ...asked, as: person.trim() }));
      }}
    >
      <div className="field grow">
        <label htmlFor="words">One need in each line</label>
        <textarea
          id="words"
          rows={Math.min(6, text.split("\n").length)}
          value={text}
          onChange={({ target }) => onText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      </div>
      <SelectField
        label="Tools for each"
        choices={limits.map((one) => [one, one] as const)}
        value={String(limitOf(asked.limit))}
        onChange={({ target }) => onChoose(given({ ...asked, limit: target.value }))}
      />
      <SelectField
        label="The model reads"
        choices={details}
        value={detailOf(asked.detail)}
        onChange={({ target }) => onChoose(given({ ...asked, detail: target.value }))}
      />
      {isAdmin && (
        <TextField
          label="As somebody else"
          placeholder="yourself"
          value={person}
          onChange={({ target }) => setPerson(target.value)}
        />
      )}
      <Button look="main" type="submit">
        Search
      </Button>
    </form>
  );
}

/** Without what was not chosen. */
function given(choices: Asked): SearchChoices {
  return Object.fromEntries(
    Object.entries(choices).filter(([, value]) => value !== undefined && value !== ""),
  ) as SearchChoices;
}
