import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queries } from "../../api/queries.ts";
import { entryPath } from "../../words/text/entry-path.ts";
import { ConfigEditor } from "../settings/config-editor.tsx";
import { EntryForm } from "./entry-form.tsx";
import { EntryTextEditor } from "./entry-text.tsx";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";

/** What the configuration file says of one server, as a form or as JSON. */
export function EntryEditor({ server }: { readonly server: string }) {
  const config = useQuery({ ...queries.config, refetchOnWindowFocus: false });
  return (
    <Section title="Its entry" about="Changes are saved in the configuration file, and in force within a second.">
      <Loaded query={config} lines={6}>
        {(file) => {
          const path = entryPath(file.text, server);
          if (path === undefined)
            return (
              <p className="muted">
                The configuration file has no entry of this name. <Link to="/settings">Look at the file</Link>
              </p>
            );
          return (
            <ConfigEditor
              key={server}
              file={file}
              form={(edited, _saved, onTyping) => <EntryForm edited={edited} path={path} onTyping={onTyping} />}
              textTab="JSON"
              text={(edited, problems) => <EntryTextEditor edited={edited} path={path} problems={problems} />}
            />
          );
        }}
      </Loaded>
    </Section>
  );
}
