import { Fragment } from "react";
import { plain } from "../../words/format.ts";

/** A name that a machine reads. Where it does not fit, it goes on in the next line after one of its signs. */
export function Name({ children }: { readonly children: string }) {
  const parts = plain(children).split(/(?<=[:_\-./@])(?=[^:_\-./@])/u);
  return parts.map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
