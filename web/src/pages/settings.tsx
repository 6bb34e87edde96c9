import { useQuery } from "@tanstack/react-query";
import { lazy } from "react";
import { queries } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { ConfigEditor } from "../parts/settings/config-editor.tsx";
import { Page } from "../parts/page.tsx";
import { SettingsForm } from "../parts/settings/settings-form.tsx";
import { Empty, Loaded } from "../parts/basic/states.tsx";
import { plain } from "../words/format.ts";

const JsonEditor = lazy(async () => ({ default: (await import("../parts/settings/json-editor.tsx")).JsonEditor }));

/** The configuration file: with comments, checked before it is saved, and compared with what runs. */
export function Settings() {
  const { mayManage } = useWho();
  const config = useQuery({ ...queries.config, refetchOnWindowFocus: false, enabled: mayManage });
  if (!mayManage)
    return (
      <Page title="Settings">
        <Empty title="The configuration is for admins of the gateway">
          <p>The operator of this gateway can change it, or make you an admin.</p>
        </Empty>
      </Page>
    );
  return (
    <Page title="Settings" about={config.data && <code>{plain(config.data.file)}</code>}>
      <Loaded query={config} lines={8}>
        {(file) => (
          <ConfigEditor
            file={file}
            form={(edited, saved, onTyping) => <SettingsForm edited={edited} saved={saved} onTyping={onTyping} />}
            textTab="Text"
            text={({ text, setText }, problems) => (
              <JsonEditor label="Configuration" value={text} onChange={setText} problems={problems} />
            )}
          />
        )}
      </Loaded>
    </Page>
  );
}
