import { indentedOrAsIs } from "../../words/text/exact-json.ts";
import { bytes, plain } from "../../words/format.ts";
import { Button } from "./button.tsx";
import { saveBlob } from "../api/save-blob.ts";

/** More than this is not laid out at once; the whole is a download. */
const mostCharacters = 200_000;

interface LongTextProps {
  readonly text: string;
  /** Shown on lines of its own, with every number as it was written. */
  readonly isJson?: boolean;
  /** The file that the whole is saved as. */
  readonly file?: string;
}

/** A text that somebody else wrote, which may have 30 MB: of a long one the beginning, and the whole as a file. */
export function LongText({ text, isJson = false, file = "result.txt" }: LongTextProps) {
  const shown = plain(isJson && text.length <= 4 * mostCharacters ? indentedOrAsIs(text) : text);
  if (shown.length <= mostCharacters)
    return (
      <pre tabIndex={0} className="wrap">
        {shown}
      </pre>
    );
  return (
    <>
      <pre tabIndex={0} className="wrap">
        {shown.slice(0, mostCharacters)}
      </pre>
      <p className="note warn">
        This is the beginning of {bytes(text.length)}.{" "}
        <Button onClick={() => saveBlob(new Blob([text], { type: "text/plain" }), file)}>Download the whole</Button>
      </p>
    </>
  );
}
