import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toFailure } from "../../api/failure.ts";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { ago, agoByHour, counted, fullTime, plain } from "../../words/format.ts";
import { scopeWord } from "../../words/scopes.ts";
import { ConfirmButton } from "../forms/confirm.tsx";
import { Section } from "../page.tsx";
import { FailureNote, Loaded } from "../basic/states.tsx";

/** Apps that act for the person logged in, and browsers that they are logged in with. */
export function OwnAccess() {
  return <Access user={undefined} whose="your" />;
}

/** The same of a user, for admins of the gateway. */
export function UserAccess({ id, name }: { readonly id: string; readonly name: string }) {
  return <Access user={id} whose={`${plain(name)}’s`} />;
}

interface AccessProps {
  /** Undefined: the person logged in. */
  readonly user: string | undefined;
  readonly whose: string;
}

function Access({ user, whose }: AccessProps) {
  return (
    <div className="columns">
      <Apps user={user} whose={whose} />
      <Browsers user={user} whose={whose} />
    </div>
  );
}

function Apps({ user, whose }: AccessProps) {
  const apps = useQuery(peopleQueries.apps(user));
  const end = useEnding(
    async (id) =>
      await valueOf(
        user === undefined
          ? api.DELETE("/api/me/apps/{id}", { params: { path: { id } } })
          : api.DELETE("/api/users/{id}/apps/{item}", { params: { path: { id: user, item: id } } }),
      ),
  );
  return (
    <Ended
      title="Apps"
      about="that log in by themselves"
      rows={apps.data ?? []}
      endAll="Disconnect all"
      question={`Disconnect all of ${whose} apps?`}
      warning="Their sessions end immediately, and each app has to ask again."
      end={end}
    >
      <Loaded query={apps}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="muted">No app is connected. One asks for consent when it is given this gateway’s address.</p>
          ) : (
            <ul className="list" aria-label="Apps">
              {rows.map((app) => (
                <li key={app.id}>
                  <span className="grow">
                    <strong>{plain(app.name)}</strong> <span className="muted">in {plain(app.team)}</span>
                  </span>
                  <EndOne
                    label="Disconnect"
                    question={`Disconnect ${plain(app.name)}?`}
                    warning="Its sessions end immediately, and it has to ask again."
                    id={app.id}
                    end={end}
                  />
                  <span className="muted wide">{appLine(app)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Ended>
  );
}

function appLine({ scopes, audience, used, expires }: Schemas["ConnectedApp"]): string {
  const may = scopes.map((scope) => plain(scopeWord(scope))).join(", ");
  return `${may} · at ${audience.map(plain).join(", ")} · used ${agoByHour(used)} · until ${fullTime(expires)}`;
}

function Browsers({ user, whose }: AccessProps) {
  const browsers = useQuery(peopleQueries.browsers(user));
  const end = useEnding(
    async (id) =>
      await valueOf(
        user === undefined
          ? api.DELETE("/api/me/sessions/{id}", { params: { path: { id } } })
          : api.DELETE("/api/users/{id}/sessions/{item}", { params: { path: { id: user, item: id } } }),
      ),
  );
  const others = (browsers.data ?? []).filter(({ isThis }) => !isThis);
  return (
    <Ended
      title="Browsers"
      about="that are logged in"
      rows={others}
      endAll={user === undefined ? "Log all others out" : "Log all out"}
      question={`Log ${counted(others.length, "browser")} out?`}
      warning="Pages that are open there ask for a login immediately."
      end={end}
    >
      <Loaded query={browsers}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="muted">No browser is logged in as {whose === "your" ? "you" : "this user"}.</p>
          ) : (
            <ul className="list" aria-label="Browsers">
              {rows.map((browser) => (
                <li key={browser.id}>
                  <span className="grow">
                    {browser.browser === "" ? "An unknown browser" : browser.browser}
                    {browser.isThis && <strong> (this one)</strong>}{" "}
                    <span className="muted">
                      {browser.via === "password" ? "with a password" : `through ${plain(browser.via)}`}
                    </span>
                  </span>
                  {!browser.isThis && (
                    <EndOne
                      label="Log it out"
                      question="Log this browser out?"
                      warning="Pages that are open there ask for a login immediately."
                      id={browser.id}
                      end={end}
                    />
                  )}
                  <span className="muted wide">
                    used {ago(browser.seen)} · logged in {fullTime(browser.created)} · until {fullTime(browser.expires)}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Ended>
  );
}

type Ending = ReturnType<typeof useEnding>;

/** Ends each of them: one that is already removed counts as ended, and one that fails does not keep the others. */
function useEnding(end: (id: string) => Promise<unknown>) {
  return useOrder(
    async (ids: readonly string[]) => {
      let failure: unknown;
      for (const id of ids)
        await end(id).catch((error: unknown) => {
          if (toFailure(error).status !== 404) failure ??= error;
        });
      if (failure !== undefined) throw failure;
    },
    { changes: [["people"]] },
  );
}

interface EndOneProps {
  readonly label: string;
  readonly question: string;
  readonly warning: string;
  readonly id: string;
  readonly end: Ending;
}

function EndOne({ label, question, warning, id, end }: EndOneProps) {
  return (
    <ConfirmButton
      label={label}
      look="danger"
      question={question}
      about={<p>{warning}</p>}
      isBusy={end.isPending && end.variables.includes(id)}
      onYes={() => end.mutate([id])}
    />
  );
}

interface EndedProps {
  readonly title: string;
  readonly about: string;
  /** What ends with the button for all of them. */
  readonly rows: readonly { readonly id: string }[];
  readonly endAll: string;
  readonly question: string;
  readonly warning: string;
  readonly end: Ending;
  readonly children: ReactNode;
}

function Ended({ title, about, rows, endAll, question, warning, end, children }: EndedProps) {
  return (
    <Section
      title={title}
      about={about}
      actions={
        rows.length > 1 && (
          <ConfirmButton
            label={endAll}
            look="danger"
            question={question}
            about={<p>{warning}</p>}
            isBusy={end.isPending}
            onYes={() => end.mutate(rows.map(({ id }) => id))}
          />
        )
      }
    >
      {end.error !== null && <FailureNote error={end.error} />}
      {children}
    </Section>
  );
}
