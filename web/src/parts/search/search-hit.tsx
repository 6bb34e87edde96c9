import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client.ts";
import { percent, plain } from "../../words/format.ts";
import { Folded } from "../basic/folded.tsx";
import { Name } from "../basic/name.tsx";
import { ServerIcon } from "../servers/server-icon.tsx";

export type Hit = Schemas["SearchReport"]["queries"][number]["tools"][number];
type Explanation = Schemas["Explanation"];

/** A tool that was found, how strongly, and why it has its rank. */
export function HitRow({ tool, note }: { readonly tool: Hit; readonly note: string }) {
  const word = tool.status === "online" ? "" : plain(tool.status);
  return (
    <li>
      <div className="hit-head">
        <ServerIcon name={tool.tool_path.split(":", 1)[0] ?? ""} />
        <Link to="/run/$tool" params={{ tool: tool.tool_path }}>
          <code>
            <Name>{tool.tool_path}</Name>
          </code>
        </Link>
        {note !== "" && <span className="muted">{note}</span>}
        {word !== "" && <span className="muted">{word === "dormant" ? "asleep" : word}</span>}
      </div>
      <p>
        <Folded text={plain(tool.description).replaceAll(/\s+/g, " ")} most={240} />
      </p>
      <Why strength={strengthOf(tool)} explanation={tool.explanation} />
    </li>
  );
}

/** 1 where everything fits, 0 where nothing does: comparable between the hits of one search. */
function strengthOf({ relevance_score: distance }: Hit): number {
  return Math.min(1, Math.max(0, 1 - distance));
}

/** Slices of the bar by reason; words and phrases of the query are one reason together. */
function slicesOf({ words, phrases, coverage, intent, serverFit, learned }: Explanation) {
  const sum = (all: readonly { readonly share: number }[]): number =>
    all.reduce((total, { share }) => total + share, 0);
  return [
    ["learned", learned.share],
    ["words", sum(words) + sum(phrases)],
    ["name", coverage.share],
    ["server", serverFit.share + Math.max(0, intent.share)],
  ].filter((slice): slice is [string, number] => Number(slice[1]) > 0);
}

function Why({ strength, explanation }: { readonly strength: number; readonly explanation: Explanation | undefined }) {
  const bar = (
    <>
      <span className="strength-word">
        Strength <strong className="number">{strength.toFixed(2)}</strong>
      </span>
      <span className="bar" aria-hidden>
        <span className="strength" style={{ width: `${100 * strength}%` }}>
          {(explanation === undefined ? [["words", 1] as const] : slicesOf(explanation)).map(([name, share]) => (
            <span key={name} className={`slice ${name}`} style={{ flexGrow: share }} />
          ))}
        </span>
      </span>
    </>
  );
  if (explanation === undefined) return <p className="strength-line">{bar}</p>;
  return (
    <details className="why">
      <summary>
        {bar}
        <span>Why</span>
      </summary>
      <Reasons explanation={explanation} />
    </details>
  );
}

/** Signs of the slices, said once for all hits. */
export function StrengthLegend() {
  return (
    <p className="muted">
      Strength compares the hits of one search, from 0 to 1.{" "}
      {["learned", "words", "name", "server"].map((name) => (
        <span key={name} className="legend">
          <span className={`dot slice ${name}`} aria-hidden /> {name}
        </span>
      ))}
    </p>
  );
}

function Reasons({ explanation }: { readonly explanation: Explanation }) {
  const { words, phrases, coverage, intent, serverFit, learned } = explanation;
  const parts = [
    ...words.map(({ asked, share, found }) => ({
      name: asked,
      share,
      about: found
        .map(
          ({ word, relation, fields }) =>
            `${relation === "word" ? word : `${relation}: ${word}`} in ${fields.join(", ")}`,
        )
        .join("; "),
    })),
    ...phrases.map(({ asked, where, share }) => ({
      name: `“${asked}”`,
      share,
      about: `next to each other in its ${where}`,
    })),
    { name: "name", share: coverage.share, about: `${percent(coverage.ofName)} of its name was asked for` },
    {
      name: "intent",
      share: intent.share,
      about: `asked: ${intent.asked.join(", ") || "nothing in particular"}; it does: ${intent.does ?? "not known"}`,
    },
    { name: "server", share: serverFit.share, about: "its server fits the words" },
    { name: "learned", share: learned.share, about: "similar searches led to it before" },
  ].filter(({ share }) => Math.abs(share) >= 0.005);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Share</th>
          <th scope="col">Of</th>
          <th scope="col">Because</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ name, share, about }, at) => (
          <tr key={`${name}-${at}`}>
            <td className="right">{percent(share)}</td>
            <td>{plain(name)}</td>
            <td>{plain(about)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
