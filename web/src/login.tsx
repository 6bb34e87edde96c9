import { Dialog } from "@base-ui/react/dialog";
import { useState } from "react";
import { toFailure, type ApiFailure } from "./api/failure.ts";
import { logIn } from "./api/session.ts";
import { Button, CopyButton } from "./parts/button.tsx";
import { TextField } from "./parts/field.tsx";
import { FailureNote } from "./parts/states.tsx";

/** Where nobody is logged in. */
export function Login({ failure }: { readonly failure: ApiFailure | undefined }) {
  return (
    <main className="alone">
      <h1>Toolyard</h1>
      {failure !== undefined && <FailureNote error={failure} />}
      <LoginForm />
    </main>
  );
}

/** Where somebody was: the page behind stays as it is, with all that was typed. */
export function LoginAgain() {
  return (
    <Dialog.Root open>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="modal">
          <Dialog.Title className="modal-title">Your session has ended</Dialog.Title>
          <div className="modal-body">
            <p>Nothing that you typed is lost. Log in again, here or in another tab, and go on.</p>
            <LoginForm />
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
      <p>On the machine of the gateway, this opens the dashboard, logged in:</p>
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
