import { Link } from "@tanstack/react-router";
import { degradedText } from "../../../../src/kernel/search-words.ts";
import type { Schemas } from "../../api/client.ts";
import { count, counted, duration, plain } from "../../words/format.ts";
import { toCommand } from "../../words/words.ts";
import { CopyButton } from "../basic/button.tsx";
import { LongText } from "../basic/long-text.tsx";

type Report = Schemas["SearchReport"];

/** Most take less than a millisecond or two. */
function searchTime(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : duration(ms);
}

interface ReportProps {
  readonly report: Report;
}

interface SummaryProps extends ReportProps {
  readonly limit: number;
  /** Whether it is what somebody else would find. */
  readonly isOther: boolean;
}

/** How many were found, in which time, and what it costs a model. */
export function Summary({ report, limit, isOther }: SummaryProps) {
  const [only, ...further] = report.queries;
  const found = report.queries.reduce((sum, { tools }) => sum + tools.length, 0);
  const total = report.queries.reduce((sum, need) => sum + need.total_found, 0);
  return (
    <p className="muted" role="status">
      {report.failed === null
        ? `${count(found)} of ${count(total)} found in ${searchTime(report.search_time_ms)} by ${report.engine === "lexical" ? "words" : (report.engine ?? "no engine")}${report.meaning === "used" ? " and embeddings" : ""}; about ${count(report.answer_tokens)} tokens for a model. `
        : plain(report.failed)}
      {report.degraded !== null && `Found ${plain(degradedText(report.degraded))}. `}
      {only !== undefined && further.length === 0 && !isOther && (
        <CopyButton
          label="Copy as command"
          text={toCommand("search", [only.query], { explain: true, limit: String(limit) })}
        />
      )}
    </p>
  );
}

/** Servers that cannot be used, as the model is told of them. */
export function Unusable({ report }: ReportProps) {
  const missing = report.unavailable_others + report.unavailable.length;
  if (missing === 0) return null;
  return (
    <div className="note warn">
      <div>
        <p>
          {counted(missing, "server")} cannot be used now; the model is told so. <Link to="/servers">Look at them</Link>
        </p>
        {report.unavailable.length > 0 && (
          <ul aria-label="What the model is told of servers that may have been meant">
            {report.unavailable.map(({ server, reason, action }) => (
              <li key={server}>
                <Link to="/servers/$server" params={{ server }}>
                  {plain(server)}
                </Link>
                : {plain(reason)} {plain(action)}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

interface ModelAnswerProps extends ReportProps {
  /** Whether somebody has chosen how much it says. */
  readonly isOpen: boolean;
}

/** The answer itself: the text that a model reads for all of the above. */
export function ModelAnswer({ report: { answer, answer_tokens: tokens }, isOpen }: ModelAnswerProps) {
  if (answer === undefined) return null;
  return (
    <details className="section" open={isOpen}>
      <summary>
        <strong>What the model reads</strong> about {counted(tokens, "token")}
      </summary>
      <LongText isJson text={answer} file="discover-answer.json" />
    </details>
  );
}
