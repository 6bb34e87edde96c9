import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { queries } from "../api/queries.ts";
import { Button, CopyButton } from "../parts/basic/button.tsx";
import { Name } from "../parts/basic/name.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Empty, Loaded, Skeleton } from "../parts/basic/states.tsx";
import { routesOf, toCurl, type ApiRoute, type OpenApi } from "../words/api-operation.ts";
import { plain } from "../words/format.ts";

const ApiTrial = lazy(async () => ({ default: (await import("../parts/api/api-trial.tsx")).ApiTrial }));
const here = getRouteApi("/api");

/** The REST API, as its own description has it; each operation can be tried. */
export function Api() {
  const { match = "", operation } = here.useSearch();
  const navigate = useNavigate();
  const description = useQuery(queries.openapi);
  const keep = operation === undefined ? {} : { operation };
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
              void navigate({
                to: "/api",
                search: { ...keep, ...(target.value === "" ? {} : { match: target.value }) },
                replace: true,
              })
            }
          />
        </div>
      </div>
      <Loaded query={description} lines={10}>
        {(api) => {
          const words = match.toLowerCase();
          const shown = routesOf(api).filter((one) =>
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
                    <Row key={one.operationId} route={one} api={api} isOpen={one.operationId === operation} />
                  ))}
              </ul>
            </Section>
          ));
        }}
      </Loaded>
    </Page>
  );
}

interface RowProps {
  readonly route: ApiRoute;
  readonly api: OpenApi;
  readonly isOpen: boolean;
}

function Row({ route, api, isOpen }: RowProps) {
  const { method, path, summary, operationId } = route;
  const body = route.requestBody === undefined ? undefined : "{}";
  const { match } = here.useSearch();
  const navigate = useNavigate();
  const curl = { method, url: `${location.origin}${path}`, headers: {}, body };
  return (
    <li>
      <code className="method">{method}</code>
      <code className="grow whole">
        <Name>{path}</Name>
      </code>
      <span className="muted grow">{plain(summary)}</span>
      <Button
        aria-expanded={isOpen}
        aria-label={`${isOpen ? "Close" : "Try"} ${method} ${path}`}
        onClick={() => {
          const search = {
            ...(match === undefined ? {} : { match }),
            ...(isOpen ? {} : { operation: operationId }),
          };
          void navigate({ to: "/api", search, replace: true });
        }}
      >
        {isOpen ? "Close" : "Try"}
      </Button>
      <CopyButton label="Copy as curl" text={toCurl(curl)} />
      {isOpen && (
        <Suspense fallback={<Skeleton />}>
          <ApiTrial route={route} description={api} />
        </Suspense>
      )}
    </li>
  );
}
