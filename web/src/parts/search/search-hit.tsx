import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client.ts";
import { plain } from "../../words/format.ts";

export type Hit = Schemas["SearchReport"]["queries"][number]["tools"][number];
type Explanation = Schemas["Explanation"];

/** A tool that was found, and why it has its rank. */
export function HitRow({ tool, note }: { readonly tool: Hit; readonly note: string }) {
  return (
    <li>
      <div className="hit-head">
        <Link to="/run/$tool" params={{ tool: tool.tool_path }}>
          <code>{plain(tool.tool_path)}</code>
        </Link>
        <span className="muted number">distance {tool.relevance_score.toFixed(2)}</span>
        {note !== "" && <span className="muted">{note}</span>}
        {tool.status !== "online" && <span className="muted">{plain(tool.status)}</span>}
      </div>
      <p>{plain(tool.description)}</p>
      {tool.explanation !== undefined && <Why explanation={tool.explanation} />}
    </li>
  );
}

const percent = new Intl.NumberFormat("en", { style: "percent" });

function Why({ explanation }: { readonly explanation: Explanation }) {
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
    ...phrases.map(({ asked, where, share }) => ({ name: `“${asked}”`, share, about: `neighbours in its ${where}` })),
    { name: "name", share: coverage.share, about: `${percent.format(coverage.ofName)} of its name was asked for` },
    {
      name: "intent",
      share: intent.share,
      about: `asked: ${intent.asked.join(", ") || "nothing in particular"}; it does: ${intent.does ?? "not known"}`,
    },
    { name: "server", share: serverFit.share, about: "its server fits the words" },
    { name: "learned", share: learned.share, about: "such queries led here before" },
  ].filter(({ share }) => Math.abs(share) >= 0.005);
  return (
    <details className="why">
      <summary>
        <span className="bar" role="img" aria-label="Where its score comes from">
          {parts
            .filter(({ share }) => share > 0)
            .map(({ name, share }, at) => (
              <span key={`${name}-${at}`} className={`slice s${at % 6}`} style={{ flexGrow: share }} />
            ))}
        </span>
        Why
      </summary>
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
              <td className="right">{percent.format(share)}</td>
              <td>{plain(name)}</td>
              <td>{plain(about)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
