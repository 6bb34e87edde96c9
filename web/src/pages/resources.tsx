import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { queries } from "../api/queries.ts";
import { propose, resourceQueries, type Resource, type ResourceTemplate } from "../api/resource-queries.ts";
import { Button } from "../parts/basic/button.tsx";
import { SelectField } from "../parts/forms/field.tsx";
import { ListCopies } from "../parts/servers/list-copies.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Prompts } from "../parts/tools/prompts.tsx";
import { ProposingField } from "../parts/settings/proposing-field.tsx";
import { ResourceReader } from "../parts/tools/resource-reader.tsx";
import { Empty, Loaded } from "../parts/basic/states.tsx";
import { TabLinks } from "../parts/basic/tab-links.tsx";
import { bytes, count, plain } from "../words/format.ts";
import { fillTemplate, templateNames } from "../words/uri-template.ts";
import { toCommand } from "../words/words.ts";

const here = getRouteApi("/resources");

/** What servers have to read, and which prompts they write. */
export function Resources() {
  const { tab = "resources", match = "", server = "", uri, prompt } = here.useSearch();
  const navigate = useNavigate();
  const { data } = useQuery(queries.status);
  const set = (next: Readonly<Record<string, string>>): void => {
    const merged = { tab, match, server, ...next };
    const search = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ""));
    void navigate({ to: "/resources", search, replace: true });
  };
  const servers = [...new Map((data?.servers ?? []).map((row) => [row.server, plain(row.title)] as const))];
  return (
    <Page title="Resources and prompts" about="Resources and prompts that servers offer.">
      <TabLinks
        label="Kinds"
        tabs={[
          ["resources", "Resources"],
          ["templates", "Templates"],
          ["prompts", "Prompts"],
        ]}
        chosen={tab}
        link={(name, rest) => (
          <Link to="/resources" search={{ tab: name, ...(server === "" ? {} : { server }) }} {...rest} />
        )}
      />
      <div className="filters">
        <div className="field grow">
          <label htmlFor="resource-match">Containing</label>
          <input
            id="resource-match"
            type="search"
            value={match}
            onChange={({ target }) => set({ match: target.value })}
          />
        </div>
        <SelectField
          label="Server"
          choices={[["", "All servers"], ...servers]}
          value={server}
          onChange={({ target }) => set({ server: target.value })}
        />
      </div>
      {tab === "prompts" ? (
        <Prompts match={match} server={server} chosen={prompt} onChoose={(name) => set({ prompt: name })} />
      ) : (
        <Lists
          kind={tab === "templates" ? "templates" : "resources"}
          match={match}
          server={server}
          uri={uri}
          onChoose={(chosen) => set({ uri: chosen })}
        />
      )}
    </Page>
  );
}

interface ListsProps {
  readonly kind: "resources" | "templates";
  readonly match: string;
  readonly server: string;
  readonly uri: string | undefined;
  readonly onChoose: (uri: string) => void;
}

function Lists({ kind, match, server, uri, onChoose }: ListsProps) {
  const list = useInfiniteQuery(resourceQueries.list(server, match));
  const isResources = kind === "resources";
  return (
    <div className="columns run reading">
      <Section title={isResources ? "Resources" : "Templates"}>
        <Loaded query={list} lines={6}>
          {({ pages }) => {
            const resources = pages.flatMap((page) => page.resources as unknown as readonly Resource[]);
            const templates = pages.flatMap(
              (page) => page.resource_templates as unknown as readonly ResourceTemplate[],
            );
            const total = (isResources ? pages[0]?.total_resources : pages[0]?.total_templates) ?? 0;
            // The command lists both kinds.
            const others = (isResources ? pages[0]?.total_templates : pages[0]?.total_resources) ?? 0;
            const shown = isResources ? resources.length : templates.length;
            if (total === 0) return <Nothing kind={kind} isFiltered={match !== "" || server !== ""} />;
            return (
              <>
                <div className="bar-line">
                  <p className="muted" role="status">
                    {count(shown)} of {count(total)}
                  </p>
                  <div className="actions">
                    <ListCopies
                      command={others === 0 ? toCommand("resources", [server], { match }) : undefined}
                      rows={isResources ? resources : templates}
                    />
                  </div>
                </div>
                {isResources ? (
                  <ResourceRows rows={resources} chosen={uri} onChoose={onChoose} />
                ) : (
                  <ul className="list" aria-label="Templates">
                    {templates.map((row) => (
                      <TemplateRow key={row.uriTemplate} template={row} onRead={onChoose} />
                    ))}
                  </ul>
                )}
                {list.hasNextPage && shown < total && (
                  <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                    Show more
                  </Button>
                )}
              </>
            );
          }}
        </Loaded>
      </Section>
      <ResourceReader uri={uri} onRead={onChoose} />
    </div>
  );
}

function Nothing({ kind, isFiltered }: { readonly kind: string; readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title={`No ${kind} fit these filters`} />;
  return (
    <Empty title={`None of your servers offers ${kind}`}>
      <p>
        A server that is asleep or ill offers them when it is back. <Link to="/servers">Look at the servers</Link>
      </p>
    </Empty>
  );
}

interface ResourceRowsProps {
  readonly rows: readonly Resource[];
  readonly chosen: string | undefined;
  readonly onChoose: (uri: string) => void;
}

function ResourceRows({ rows, chosen, onChoose }: ResourceRowsProps) {
  return (
    <ul className="list" aria-label="Resources">
      {rows.map(({ uri, title, name, description, mimeType, size, server_name: server }) => (
        <li key={uri} className={uri === chosen ? "picked" : undefined}>
          <button
            type="button"
            className="button plain pick"
            aria-pressed={uri === chosen}
            onClick={() => onChoose(uri)}
          >
            {plain(title ?? name ?? uri)}
          </button>
          <code>{plain(uri)}</code>
          <span className="muted">
            {plain(server)}
            {mimeType !== undefined && ` · ${plain(mimeType)}`}
            {size !== undefined && ` · ${bytes(size)}`}
          </span>
          {description !== undefined && <span className="muted wide">{plain(description)}</span>}
        </li>
      ))}
    </ul>
  );
}

interface TemplateRowProps {
  readonly template: ResourceTemplate;
  readonly onRead: (uri: string) => void;
}

/** A template with a field for each of its variables. The server may propose what fits. */
function TemplateRow({ template, onRead }: TemplateRowProps) {
  const { uriTemplate, native_uri_template: listed, title, name, description, server_name: server } = template;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const names = templateNames(uriTemplate);
  const uri = fillTemplate(uriTemplate, values);
  return (
    <li>
      <form
        className="stack wide"
        aria-label={plain(title ?? name ?? uriTemplate)}
        onSubmit={(event) => {
          event.preventDefault();
          onRead(uri);
        }}
      >
        <strong>{plain(title ?? name ?? uriTemplate)}</strong>
        <code>{plain(uriTemplate)}</code>
        <span className="muted">
          {plain(server)}
          {description !== undefined && ` · ${plain(description)}`}
        </span>
        {names.map((variable) => (
          <ProposingField
            key={variable}
            label={plain(variable)}
            value={values[variable] ?? ""}
            about={`${uriTemplate} ${variable} ${JSON.stringify({ ...values, [variable]: undefined })}`}
            propose={async (value) =>
              await propose({ ref: { type: "ref/resource", uri: listed }, name: variable, value, others: values })
            }
            onChange={(value) => setValues({ ...values, [variable]: value })}
          />
        ))}
        <div className="actions">
          <Button type="submit">Read it</Button>
          <code>{plain(uri)}</code>
        </div>
      </form>
    </li>
  );
}
