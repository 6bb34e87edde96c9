import { useNavigate } from "@tanstack/react-router";
import { api, valueOf } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { FailureNote } from "../basic/states.tsx";

interface EventCallProps {
  readonly time: string;
  /** Of an event of the type `mcp.request.logs`. */
  readonly data: unknown;
}

/** A call is recorded when its event is sent, or a moment later. */
const aroundMs = 2_000;
const mostLooked = 200;

/** Leads from the event of a call to the call, or, where it was not recorded, to those of the same tool. */
export function EventCall({ time, data }: EventCallProps) {
  const { path = "" } = (data ?? {}) as { readonly path?: string };
  const navigate = useNavigate();
  // The event does not say which record is its own: it is the one of that millisecond.
  const look = useOrder(
    async () => {
      const at = Date.parse(time);
      const [from, to] = [at - aroundMs, at + aroundMs].map((ms) => new Date(ms).toISOString());
      const query = { tool: path, limit: mostLooked, ...(from && to ? { from, to } : {}) };
      const { calls } = await valueOf(api.GET("/api/calls", { params: { query } }));
      return calls.find((call) => call.time === time)?.id;
    },
    {
      changes: [],
      onDone: (id) =>
        void (id === undefined
          ? navigate({ to: "/calls", search: { tool: path } })
          : navigate({ to: "/calls/$id", params: { id } })),
    },
  );
  return (
    <>
      <Button look="plain" isBusy={look.isPending} onClick={() => look.mutate(undefined)}>
        {plain(path)}
      </Button>
      {look.error !== null && <FailureNote error={look.error} />}
    </>
  );
}
