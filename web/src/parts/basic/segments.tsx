interface TabsProps<Name extends string> {
  readonly label: string;
  readonly tabs: readonly (readonly [name: Name, text: string])[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

/** Views of one thing that have no address of their own. */
export function Segments<Name extends string>({ label, tabs, chosen, onChoose }: TabsProps<Name>) {
  return (
    <div role="group" aria-label={label} className="segments">
      {tabs.map(([name, text]) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {text}
        </button>
      ))}
    </div>
  );
}
