interface TabsProps {
  readonly label: string;
  readonly tabs: readonly (readonly [name: string, text: string])[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
}

/** Views of one thing that have no address of their own. */
export function Segments({ label, tabs, chosen, onChoose }: TabsProps) {
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
