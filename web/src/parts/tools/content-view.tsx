import type { Content } from "../../api/resource-queries.ts";
import { bytes, plain } from "../../words/format.ts";
import { indentedOrAsIs } from "../../words/text/exact-json.ts";
import { Button } from "../basic/button.tsx";

/** Formats that a browser draws without running anything in them. */
const images = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
/** More than this is not laid out at once; the whole is a download. */
const mostCharacters = 200_000;

/** What a server says of a resource: text and images are shown, everything else can only be saved. */
export function ContentView({ content }: { readonly content: Content }) {
  const { uri = "", mimeType = "", text, blob } = content;
  const [type = ""] = mimeType.split(";");
  return (
    <figure className="content">
      <figcaption className="muted">
        <code>{plain(uri)}</code> {plain(mimeType)}
      </figcaption>
      {text !== undefined && <Text text={text} isJson={/[/+]json$/.test(type)} />}
      {blob !== undefined && images.has(type) && (
        <img className="picture" src={`data:${type};base64,${blob}`} alt={`The resource ${plain(uri)}`} />
      )}
      {blob !== undefined && !images.has(type) && (
        <p className="muted">{bytes(Math.floor((blob.length * 3) / 4))} that are no text and no picture.</p>
      )}
      <Button onClick={() => save(content)}>Download</Button>
    </figure>
  );
}

function Text({ text, isJson }: { readonly text: string; readonly isJson: boolean }) {
  const isLong = text.length > mostCharacters;
  const shown = isLong ? text.slice(0, mostCharacters) : isJson ? indentedOrAsIs(text) : text;
  return (
    <>
      <pre tabIndex={0} className="wrap">
        {plain(shown)}
      </pre>
      {isLong && <p className="note warn">This is the beginning of {bytes(text.length)}.</p>}
    </>
  );
}

/** The last part of an address, in which addresses of servers stand encoded. */
function fileName(uri: string): string {
  const last = /([\w.-]+)[^\w.-]*$/.exec(uri.replaceAll(/%[0-9a-f]{2}/gi, "/"))?.[1] ?? "";
  return last.replace(/^\.+/, "") || "resource";
}

/** As a file of the browser's, under a name without a path; never opened in a page of ours. */
function save({ uri = "", text, blob }: Content): void {
  const part = text ?? Uint8Array.from(atob(blob ?? ""), (character) => character.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([part], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName(uri);
  link.click();
  URL.revokeObjectURL(url);
}
