import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { queries } from "../api/queries.ts";
import { CopyButton } from "../parts/button.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { plain } from "../words/format.ts";

const here = getRouteApi("/api");

/** The REST API, as its own description has it. */
export function Api() {
  const { match = "" } = here.useSearch();
  const navigate = useNavigate();
  const description = useQuery(queries.openapi);
  return (
    <Page
      title="API"
      about={
        <>
          All of this is REST. <a href="/documentation">The reference</a> has every field,{" "}
          <a href="/openapi.json">openapi.json</a> is for programs.
        </>
      }
    >
      <div className="filters">
        <div className="field grow">
          <label htmlFor="api-match">Containing</label>
          <input
            id="api-match"
            type="search"
            value={match}
            onChange={({ target }) =>
              void navigate({ to: "/api", search: target.value === "" ? {} : { match: target.value }, replace: true })
            }
          />
        </div>
      </div>
      <Loaded query={description} lines={10}>
        {({ paths }) => {
          const words = match.toLowerCase();
          const operations = Object.entries(paths).flatMap(([path, methods]) =>
            Object.entries(methods).map(([method, operation]) => ({
              path,
              method: method.toUpperCase(),
              ...operation,
            })),
          );
          const shown = operations.filter((one) =>
            `${one.method} ${one.path} ${one.summary}`.toLowerCase().includes(words),
          );
          const tags = [...new Set(shown.flatMap((one) => one.tags))];
          if (shown.length === 0) return <Empty title="No route fits" />;
          return tags.map((tag) => (
            <Section key={tag} title={tag}>
              <ul className="list routes">
                {shown
                  .filter((one) => one.tags.includes(tag))
                  .map((one) => (
                    <li key={one.operationId}>
                      <code className="method">{one.method}</code>
                      <code className="grow">{one.path}</code>
                      <span className="muted grow">{plain(one.summary)}</span>
                      <CopyButton label="Copy as curl" text={toCurl(one.method, one.path)} />
                    </li>
                  ))}
              </ul>
            </Section>
          ));
        }}
      </Loaded>
    </Page>
  );
}

function toCurl(method: string, path: string): string {
  const url = `${location.origin}${path}`;
  return method === "GET" ? `curl '${url}'` : `curl -X ${method} '${url}' -H 'Content-Type: application/json' -d '{}'`;
}
