import { cloneElement, type ReactElement } from "react";

interface TabLinksProps {
  readonly label: string;
  readonly tabs: readonly (readonly [name: string, text: string])[];
  readonly chosen: string;
  readonly link: (name: string, rest: { readonly "aria-current": "page" | undefined }) => ReactElement;
}

/** Parts of a page as links: each has an address, and the way back leads to it. */
export function TabLinks({ label, tabs, chosen, link }: TabLinksProps) {
  return (
    <nav aria-label={label} className="tabs">
      {tabs.map(([name, text]) =>
        cloneElement(link(name, { "aria-current": name === chosen ? "page" : undefined }), { key: name }, text),
      )}
    </nav>
  );
}
