import { api, valueOf, type Schemas } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { FailureNote } from "../basic/states.tsx";

type Action = "restart" | "stop" | "refresh";

/** Restart, stop, list again: of one instance. */
export function ServerActions({ server }: { readonly server: Schemas["ServerStatus"] }) {
  const params = { path: { id: server.instance } };
  const start = async () => await valueOf(api.POST("/api/instances/{id}/restart", { params }));
  const { mutate, isPending, error, variables } = useOrder(
    async (action: Action) => {
      if (action === "restart") return await start();
      if (action === "stop") return await valueOf(api.POST("/api/instances/{id}/stop", { params }));
      return await valueOf(api.POST("/api/instances/{id}/refresh", { params }));
    },
    {
      changes: [["status"], ["tools"]],
      said: (action) => (action === "stop" ? { text: `${server.title} is stopped.`, undo: start } : undefined),
    },
  );
  const isBusy = (action: Action): boolean => isPending && variables === action;
  // Nothing runs, so that nothing can fail by it: it needs no question.
  const isDown = server.dormant || ["disabled", "offline", "error", "permanently_failed"].includes(server.status);
  // A server that is switched off, or has a wrong entry, is not brought up by starting it: the remedy is beside its
  // status.
  if (server.status === "disabled" && server.next?.step !== "start") return null;
  return (
    <>
      {isDown ? (
        <Button look="main" isBusy={isBusy("restart")} onClick={() => mutate("restart")}>
          {server.next?.step === "try-now" ? "Try now" : "Start"}
        </Button>
      ) : (
        <ConfirmButton
          label="Restart"
          question={`Restart ${server.title}?`}
          about={<p>Calls in progress on it fail, and the state that it holds in memory is lost.</p>}
          isBusy={isBusy("restart")}
          onYes={() => mutate("restart")}
        />
      )}
      <Button isBusy={isBusy("refresh")} onClick={() => mutate("refresh")}>
        Read lists again
      </Button>
      {server.status !== "disabled" && (
        <ConfirmButton
          label="Stop"
          look="danger"
          question={`Stop ${server.title}?`}
          about={<p>It stays stopped until somebody starts it. Calls in progress on it fail.</p>}
          isBusy={isBusy("stop")}
          onYes={() => mutate("stop")}
        />
      )}
      {error !== null && <FailureNote error={error} />}
    </>
  );
}
