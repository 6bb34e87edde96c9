import type { ReactNode } from "react";
import { ago } from "../../words/format.ts";
import { statusWords, type Standing, type Tone } from "../../words/status.ts";

/** A shape for each tone, so that no state is known by its colour alone. */
const shapes: Readonly<Record<Tone, string>> = {
  ok: "M2 8l4 4 8-9",
  asleep: "M4 8h8",
  busy: "M8 2a6 6 0 1 1-6 6",
  ask: "M8 2v8M8 13.2v.6",
  bad: "M3 3l10 10M13 3L3 13",
  off: "M8 3a5 5 0 1 0 .01 0",
};

/** A server's status: shape, colour and word. */
export function StatusMark({ server }: { readonly server: Standing }) {
  const { word, tone } = statusWords(server);
  const again = server.retryAt == null ? "" : `: tries again ${ago(server.retryAt)}`;
  return (
    <ToneMark tone={tone}>
      {word}
      {again}
    </ToneMark>
  );
}

/** A state of any thing: shape and colour of its tone, and its word. */
export function ToneMark({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={`status ${tone}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden>
        <path
          d={shapes[tone]}
          fill="none"
          stroke="currentColor"
          strokeWidth="2"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      {children}
    </span>
  );
}
