import { api, valueOf, type Schemas } from "../../api/client.ts";
import { configUndo } from "../../api/config-undo.ts";
import { useOrder } from "../../api/queries.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { OutcomeNote } from "../basic/outcome-note.tsx";
import { Section } from "../page.tsx";
import { TrialNote } from "./server-trial.tsx";
import { FailureNote } from "../basic/states.tsx";

type Change = "enable" | "disable" | "login" | "logout" | "remove";

/** What the configuration says of it; each of these is the command of that name. */
export function ServerEntry({ server }: { readonly server: Schemas["ServerStatus"] }) {
  const params = { path: { slug: server.server } };
  const trial = useOrder(async () => await valueOf(api.POST("/api/servers/{slug}/test", { params })), { changes: [] });
  const { mutate, isPending, variables, data, error } = useOrder(
    async (change: Change) => {
      if (change === "enable") return await valueOf(api.POST("/api/servers/{slug}/enable", { params }));
      if (change === "disable") return await valueOf(api.POST("/api/servers/{slug}/disable", { params }));
      if (change === "login") return await valueOf(api.POST("/api/servers/{slug}/login", { params }));
      if (change === "logout") return await valueOf(api.POST("/api/servers/{slug}/logout", { params }));
      return await valueOf(api.DELETE("/api/servers/{slug}", { params }));
    },
    {
      changes: [["status"], ["config"], ["tools"]],
      said(change, { ok }) {
        const params = { path: { slug: server.server } };
        if (!ok) return undefined;
        if (change === "disable")
          return {
            text: `${server.title} is switched off.`,
            undo: async () => await valueOf(api.POST("/api/servers/{slug}/enable", { params })),
          };
        if (change === "enable")
          return {
            text: `${server.title} is switched on.`,
            undo: async () => await valueOf(api.POST("/api/servers/{slug}/disable", { params })),
          };
        return change === "remove"
          ? { text: `${server.title} is removed from the configuration.`, undo: configUndo() }
          : undefined;
      },
    },
  );
  const isBusy = (change: Change): boolean => isPending && variables === change;
  return (
    <Section title="Configuration">
      <div className="actions">
        <Button isBusy={trial.isPending} onClick={() => trial.mutate()}>
          Try it apart from the gateway
        </Button>
        {server.next?.step === "enable" ? (
          <Button look="main" isBusy={isBusy("enable")} onClick={() => mutate("enable")}>
            Switch on
          </Button>
        ) : (
          <Button isBusy={isBusy("disable")} onClick={() => mutate("disable")}>
            Switch off
          </Button>
        )}
        {server.transport !== "stdio" && (
          <>
            <Button
              look={server.status === "requires_reauth" ? "main" : "plain"}
              isBusy={isBusy("login")}
              onClick={() => mutate("login")}
            >
              Log in
            </Button>
            <Button look="plain" isBusy={isBusy("logout")} onClick={() => mutate("logout")}>
              Forget the login
            </Button>
          </>
        )}
        <ConfirmButton
          label="Remove"
          look="danger"
          question={`Remove ${server.title} from the configuration?`}
          about={<p>A copy of the file is kept beside it. Clients lose its tools immediately.</p>}
          isBusy={isBusy("remove")}
          onYes={() => mutate("remove")}
        />
      </div>
      {(isPending || trial.isPending) && (
        <p role="status">
          {isPending && variables === "login"
            ? "A browser opens on the gateway’s machine. Log in there within three minutes."
            : "Working on it."}
        </p>
      )}
      {error !== null && <FailureNote error={error} />}
      {data !== undefined && <OutcomeNote outcome={data} done="Done." />}
      {trial.error !== null && <FailureNote error={trial.error} />}
      {trial.data !== undefined && <TrialNote trial={trial.data} />}
    </Section>
  );
}
