import { useMemo, useState } from "react";
import { tokensOfBytes } from "../../../../src/records/calls/byte-tokens.ts";
import { memberText } from "../../words/text/exact-json.ts";
import { bytes, count, plain } from "../../words/format.ts";
import { Button, CopyButton } from "../basic/button.tsx";
import { LongText } from "../basic/long-text.tsx";
import { saveBlob } from "../api/save-blob.ts";
import { Segments } from "../basic/segments.tsx";

/** The answer of a call as text: numbers are shown as they were written. */
export interface ResultViewProps {
  /** `{ success, result | error, … }`. */
  readonly text: string;
  /** The arguments that it answers. */
  readonly sent: string;
  /** Of its structured content, where the tool says it. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly resource?: {
    readonly uri?: string;
    readonly text?: string;
    readonly blob?: string;
    readonly mimeType?: string;
  };
}

const views = [
  ["result", "Result"],
  ["structured", "Structured"],
  ["raw", "Raw"],
] as const;

/** What a tool answered: texts, images, sounds, links, structured content, and the whole as it came. */
export function ResultView({ text, sent, schema }: ResultViewProps) {
  const [view, setView] = useState("result");
  const { result, error, structured, content, warning, isGood } = useMemo(() => partsOf(text), [text]);
  const tokens = useMemo(() => [sent, result ?? ""].map(tokensOf), [sent, result]);
  const shown = views.filter(([name]) => name !== "structured" || structured !== undefined);
  return (
    <section className="result" aria-label="Result">
      <header className="section-head">
        <h2 className={isGood ? "" : "bad-text"}>{isGood ? "It answered" : "The tool failed"}</h2>
        <span className="muted" title="Of its arguments, and of what it answered. An estimate.">
          {bytes(text.length)}, {tokens.map((some) => `~${count(some)}`).join(" + ")} tokens
        </span>
        <Segments label="Views of the result" tabs={shown} chosen={view} onChoose={setView} />
        <CopyButton text={result ?? error ?? text} label="Copy JSON" />
      </header>
      {warning !== undefined && <p className="note warn">{plain(String(JSON.parse(warning)))}</p>}
      {view === "structured" && structured !== undefined && (
        <div className="columns">
          <LongText isJson text={structured} />
          {schema !== undefined && (
            <figure>
              <figcaption className="muted">Its schema</figcaption>
              <LongText isJson text={JSON.stringify(schema)} />
            </figure>
          )}
        </div>
      )}
      {view === "raw" && <LongText isJson text={result ?? error ?? text} />}
      {view === "result" &&
        (content === undefined ? (
          <LongText isJson text={structured ?? error ?? result ?? text} />
        ) : (
          <Blocks text={content} />
        ))}
    </section>
  );
}

/** As its record counts them. */
function tokensOf(json: string): number {
  return tokensOfBytes(new Blob([json]).size);
}

/** Reads all of a text that may have 30 MB: once for each answer. */
function partsOf(text: string) {
  const result = memberText(text, "result");
  return {
    result,
    error: memberText(text, "error"),
    structured: result === undefined ? undefined : memberText(result, "structuredContent"),
    content: result === undefined ? undefined : memberText(result, "content"),
    warning: memberText(text, "warning"),
    isGood: memberText(text, "success") === "true",
  };
}

function Blocks({ text }: { readonly text: string }) {
  const blocks = useMemo(() => JSON.parse(text) as readonly Block[], [text]);
  if (blocks.length === 0) return <p className="muted">The result has no content.</p>;
  return (
    <div className="stack">
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
    </div>
  );
}

/** Formats that a browser draws without running anything in them. */
const images = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
const sounds = new Set(["audio/wav", "audio/mpeg", "audio/ogg", "audio/mp4", "audio/webm", "audio/aac", "audio/flac"]);

function BlockView({ block }: { readonly block: Block }) {
  const { type, text, data = "", mimeType = "", resource } = block;
  if (type === "text") return <LongText text={text ?? ""} />;
  if (type === "image" && images.has(mimeType))
    return <img className="picture" src={`data:${mimeType};base64,${data}`} alt="Made by the tool" />;
  if (type === "audio" && sounds.has(mimeType))
    return <audio controls src={`data:${mimeType};base64,${data}`} aria-label="Made by the tool" />;
  if (type === "resource" && resource?.text !== undefined)
    return (
      <figure>
        <figcaption className="muted">
          <code>{plain(resource.uri ?? "")}</code>
        </figcaption>
        <LongText text={resource.text} />
      </figure>
    );
  if (type === "resource" && resource?.blob !== undefined)
    return <Blob64 uri={resource.uri ?? ""} type={resource.mimeType ?? ""} data={resource.blob} />;
  if (type === "resource_link")
    return (
      <p>
        Link to <code>{plain(block.uri ?? "")}</code> {plain(block.name ?? "")}
      </p>
    );
  return <LongText isJson text={JSON.stringify(block)} />;
}

/** A file within a result: drawn or played where that runs nothing in it, and otherwise a download. */
function Blob64({ uri, type, data }: { readonly uri: string; readonly type: string; readonly data: string }) {
  const save = (): void => {
    const content = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    saveBlob(new Blob([content], { type: "application/octet-stream" }), uri.split("/").at(-1) ?? "resource");
  };
  return (
    <figure>
      <figcaption className="muted">
        <code>{plain(uri)}</code> {plain(type)}, {bytes(Math.floor((data.length * 3) / 4))}
      </figcaption>
      {images.has(type) && <img className="picture" src={`data:${type};base64,${data}`} alt="Made by the tool" />}
      {sounds.has(type) && <audio controls src={`data:${type};base64,${data}`} aria-label="Made by the tool" />}
      <Button onClick={save}>Download</Button>
    </figure>
  );
}
