import { api, valueOf } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { Button } from "../basic/button.tsx";
import { OutcomeNote } from "../basic/outcome-note.tsx";
import { FailureNote } from "../basic/states.tsx";

/** Adds three servers that need no account and touch nothing of anybody's, to try the gateway with. */
export function ExampleServers() {
  const add = useOrder(async () => await valueOf(api.POST("/api/servers", { body: { examples: true } })), {
    changes: [["status"], ["tools"], ["config"]],
  });
  return (
    <>
      <Button isBusy={add.isPending} onClick={() => add.mutate(undefined)}>
        Try it with three examples
      </Button>
      {add.error !== null && <FailureNote error={add.error} />}
      {add.data !== undefined && <OutcomeNote outcome={add.data} done="They are added, and are starting." />}
    </>
  );
}
