import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useState } from "react";
import { toFailure, type ApiFailure } from "./api/failure.ts";
import { loginPage, logIn, type LoginWays } from "./api/session.ts";
import { Button, CopyButton } from "./parts/basic/button.tsx";
import { TextField } from "./parts/forms/field.tsx";
import { FailureNote } from "./parts/basic/states.tsx";
import { plain } from "./words/format.ts";

/** Where no one is logged in. People have a page for that, and come back from it to the page that they asked for. */
export function Login({ failure, ways }: { readonly failure: ApiFailure | undefined; readonly ways: LoginWays }) {
  const isElsewhere = ways.hasPeople && ways.person === null && failure === undefined;
  const next = location.pathname + location.search;
  useEffect(() => {
    if (isElsewhere) location.replace(loginPage(next));
  }, [isElsewhere, next]);
  if (ways.person !== null) return <NoTeam name={ways.person} />;
  return (
    <main className="alone">
      <h1>Toolyard</h1>
      {failure !== undefined && <FailureNote error={failure} />}
      {ways.hasPeople && (
        <p>
          <a className="button main" href={loginPage(next)}>
            Log in
          </a>
        </p>
      )}
      {!isElsewhere && <LoginForm />}
    </main>
  );
}

/** Logged in, and in no team: there is nothing to show before somebody invites them. */
function NoTeam({ name }: { readonly name: string }) {
  return (
    <main className="alone">
      <h1>Toolyard</h1>
      <p>
        You are logged in as <strong>{plain(name)}</strong>, and are in no team yet.
      </p>
      <p>Ask an admin of a team to add you, then look again.</p>
      <p className="actions">
        <Button look="main" onClick={() => location.reload()}>
          Look again
        </Button>
        <a className="button" href="/account">
          Your account
        </a>
      </p>
    </main>
  );
}

/** Where somebody was: the page behind stays as it is, with all that was typed. */
export function LoginAgain({ ways }: { readonly ways: LoginWays }) {
  return (
    <Dialog.Root open>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="modal">
          <Dialog.Title className="modal-title">Your session has ended</Dialog.Title>
          <div className="modal-body">
            {ways.hasPeople ? (
              <>
                <p>Nothing that you typed is lost. Log in again in another tab, then continue here.</p>
                <p>
                  <a className="button main" href={loginPage("/ui/logged-in")} target="_blank" rel="noreferrer">
                    Log in in another tab
                  </a>
                </p>
              </>
            ) : (
              <>
                <p>Nothing that you typed is lost. Log in again, here or in another tab, then continue.</p>
                <LoginForm />
              </>
            )}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const command = "toolyard open";

function LoginForm() {
  const [given, setGiven] = useState("");
  const [failure, setFailure] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);

  async function submit(): Promise<void> {
    const text = given.trim();
    if (text === "") return;
    setBusy(true);
    const [, code] = /#code=([\w-]+)$/.exec(text) ?? [];
    try {
      await logIn(code === undefined ? { token: text } : { code });
    } catch (error) {
      setFailure(toFailure(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      className="login"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <p>On the gateway’s machine, this opens the dashboard and logs you in:</p>
      <p className="command">
        <code>{command}</code> <CopyButton text={command} label="Copy" />
      </p>
      <TextField
        label="Or paste its link, or a token of this gateway"
        type="password"
        value={given}
        onChange={(event) => setGiven(event.target.value)}
      />
      {failure !== undefined && <FailureNote error={failure} />}
      <Button look="main" type="submit" isBusy={isBusy}>
        Log in
      </Button>
    </form>
  );
}
