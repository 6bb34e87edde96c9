import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { findInJson } from "./json-secrets.ts";
import { createKeyFinder } from "../../config/words/key-patterns.ts";
import { createKnownSecrets, type KnownSecrets } from "./known-secrets.ts";
import { secretMembers } from "../../config/words/secret-members.ts";
import { isSecretName } from "../../config/words/secret-names.ts";
import { redactSaid } from "./peer-text.ts";
import type { SecretForm } from "./secret-forms.ts";
import { redacted, Spans, type Span } from "../../config/words/spans.ts";

/** Takes secrets out of text that is written, shown or sent to people: the one way in which the gateway does it. */
export interface Redaction {
  /**
   * The text with `[redacted]` in place of known secrets in all their forms, of their beginnings where a line is cut,
   * and of what looks like a key. The same string where there is none of these.
   */
  text(text: string): string;
  /** As `text`, for a peer's own text before it is cut: of a long one the beginning (`peer-text.ts`). */
  said(text: string): string;
  /**
   * As `text`, for JSON: values of members whose names say that they are secret (`password`), or that a JSON Schema of
   * the value marks (see `secretMembers`), become `"[redacted]"` at any depth, numbers too. All else stays as its
   * sender wrote it. Text that is no JSON, or only the beginning of it, is redacted as far as it can be understood.
   */
  json(json: Uint8Array | string, schema?: JsonObject): string;
  /** The known secrets as they are now, for those who look for them without taking them out. */
  known(): KnownSecrets;
}

export interface RedactionOptions {
  /**
   * Known secrets. Asked at every text, so that it should return the same set until it has another (`joinSecrets`):
   * the forms are made once per set.
   */
  readonly secrets: () => ReadonlySet<string>;
}

export function createRedaction({ secrets }: RedactionOptions): Redaction {
  let known: Known | undefined;
  const keys = createKeyFinder();
  const names = new Map<string, boolean>();
  const marks = new WeakMap<JsonObject, ReadonlySet<string>>();

  function current(): Known {
    const values = secrets();
    if (known === undefined || known.values !== values || known.size !== values.size)
      known = { ...createKnownSecrets(values, known), size: values.size };
    return known;
  }

  function find(text: string): readonly Span[] {
    const found = new Spans();
    current().find(text, found);
    keys.find(text, found);
    return found.isEmpty ? none : found.merged();
  }

  function membersOf(schema: JsonObject): ReadonlySet<string> {
    let members = marks.get(schema);
    if (members === undefined) marks.set(schema, (members = secretMembers(schema)));
    return members;
  }

  function isKnownName(name: string): boolean {
    if (name.length > longestName) return isSecretName(name);
    let isSecret = names.get(name);
    if (isSecret === undefined) {
      isSecret = isSecretName(name);
      if (names.size >= mostNames) names.clear();
      names.set(name, isSecret);
    }
    return isSecret;
  }

  function clean(text: string): string {
    const found = find(text);
    return found.length === 0 ? text : replaceSpans(text, found);
  }

  return {
    text: clean,
    said: (text) => redactSaid(text, clean),
    known: current,
    json(json, schema) {
      const text = typeof json === "string" ? json : asBuffer(json).toString("utf8");
      const hidden = find(text);
      if (!/^\s*[[{]/.test(text)) return replaceSpans(text, hidden);
      const marked = schema === undefined ? noNames : membersOf(schema);
      const isSecret = (name: string): boolean => marked.has(name) || isKnownName(name);
      return replaceSpans(text, findInJson(text, { hidden, isSecret }));
    },
  };
}

/** Returns undefined as long as what it speaks for is not there. */
export type SecretSource = () => ReadonlySet<string> | undefined;

/** Sources of secrets, which parts add as they are built. */
export interface SecretSources {
  add(source: SecretSource): void;
  /** One set of the values of all, which stays the same set as long as none returns another, grows or is added. */
  readonly all: () => ReadonlySet<string>;
}

export function createSecretSources(...sources: SecretSource[]): SecretSources {
  let last: readonly { readonly values: ReadonlySet<string> | undefined; readonly size: number }[] = [];
  let joined: ReadonlySet<string> = noNames;
  return {
    add: (source) => void sources.push(source),
    all() {
      const isSame = sources.every((source, index) => {
        const [now, known] = [source(), last[index]];
        return known !== undefined && now === known.values && (now?.size ?? 0) === known.size;
      });
      if (isSame) return joined;
      last = sources.map((source) => {
        const values = source();
        return { values, size: values?.size ?? 0 };
      });
      joined = new Set(last.flatMap(({ values }) => [...(values ?? [])]));
      return joined;
    },
  };
}

/** The values of sources that are all known. */
export function joinSecrets(...sources: SecretSource[]): () => ReadonlySet<string> {
  return createSecretSources(...sources).all;
}

interface Known extends KnownSecrets {
  readonly forms: ReadonlyMap<string, readonly SecretForm[]>;
  readonly size: number;
}

const none: readonly Span[] = [];
const noNames: ReadonlySet<string> = new Set();

/** Names of members that are remembered: as many as many tools have. */
const mostNames = 2_000;
const longestName = 200;

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function replaceSpans(text: string, parts: readonly (Span & { readonly isValue?: boolean })[]): string {
  let clean = "";
  let at = 0;
  for (const { start, end, isValue } of parts) {
    clean += text.slice(at, start) + (isValue === true ? `"${redacted}"` : redacted);
    at = end;
  }
  return clean + text.slice(at);
}
