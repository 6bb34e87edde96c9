import { useState } from "react";
import { shortened } from "../../words/format.ts";

interface FoldedProps {
  readonly text: string;
  /** How many characters are shown at first. */
  readonly most?: number;
}

/** A text that may be long: its beginning, up to the end of a word, and the rest on demand. */
export function Folded({ text, most = 200 }: FoldedProps) {
  const [isOpen, setOpen] = useState(false);
  const beginning = shortened(text, most);
  if (beginning === text) return <>{text}</>;
  return (
    <>
      {isOpen ? text : beginning}{" "}
      <button type="button" className="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Less" : "More"}
      </button>
    </>
  );
}
