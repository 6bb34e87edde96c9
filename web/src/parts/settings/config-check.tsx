import type { Schemas } from "../../api/client.ts";
import { count, counted, plain } from "../../words/format.ts";
import { Name } from "../basic/name.tsx";
import { Section } from "../page.tsx";
import { FailureNote, Skeleton } from "../basic/states.tsx";

interface ConfigCheckProps {
  readonly check: Schemas["ConfigCheck"] | undefined;
  readonly error: unknown;
}

/** The mistakes in a text of the configuration, and the changes that it would make to the running gateway. */
export function ConfigCheck({ check, error }: ConfigCheckProps) {
  if (error !== null) return <FailureNote error={error} />;
  if (check === undefined) return <Skeleton />;
  const { problems, differences, isUsable } = check;
  return (
    <Section
      title="Check"
      about={
        isUsable
          ? problems.length === 0
            ? "no problem"
            : counted(problems.length, "warning")
          : "the gateway would refuse this text"
      }
    >
      <ul className="list" aria-label="Problems">
        {problems.map(({ line, column, message, isWarning }, at) => (
          <li key={at}>
            <span className={isWarning ? "muted" : "bad-text"}>{isWarning ? "warning" : "problem"}</span>
            {line !== null && (
              <span className="number">
                line {count(line)}, column {count(column ?? 1)}
              </span>
            )}
            <span className="grow">{plain(message)}</span>
          </li>
        ))}
      </ul>
      {differences.length === 0 ? (
        isUsable && <p className="muted">The gateway has this in force.</p>
      ) : (
        <div className="table-scroll" role="region" aria-label="Table of differences" tabIndex={0}>
          <table>
            <caption>What it changes of what runs</caption>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">In force</th>
                <th scope="col">Then</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ path, before, after, needsRestart }) => (
                <tr key={path}>
                  <td>
                    <code className="whole">
                      <Name>{path}</Name>
                    </code>
                  </td>
                  <td>
                    <Name>{JSON.stringify(before) ?? ""}</Name>
                  </td>
                  <td>
                    <Name>{JSON.stringify(after) ?? ""}</Name>
                  </td>
                  <td>{needsRestart ? "after a restart of the gateway" : "at once"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
