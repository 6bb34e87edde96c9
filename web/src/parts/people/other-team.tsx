import { chooseTeam } from "../../api/session.ts";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { Page } from "../page.tsx";
import { Empty } from "../basic/states.tsx";

/** A page of a team that somebody is in, while they work in another one. */
export function OtherTeam({ team }: { readonly team: string }) {
  return (
    <Page title={plain(team)}>
      <Empty title="You work in another of your teams now">
        <p>Teams share nothing: each page shows the one that is chosen.</p>
        <Button look="main" onClick={() => chooseTeam(team)}>
          Work in {plain(team)}
        </Button>
      </Empty>
    </Page>
  );
}
