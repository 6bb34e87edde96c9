import { lazy, Suspense, useState } from "react";
import { api, valueOf } from "../../api/client.ts";
import { toFailure, ApiFailure } from "../../api/failure.ts";
import { useOrder } from "../../api/queries.ts";
import { useWho } from "../../api/who.ts";
import { plain } from "../../words/format.ts";
import { CheckField, TextField } from "../basic/field.tsx";
import { OrderModal } from "../basic/order-modal.tsx";
import { Skeleton } from "../basic/states.tsx";

const JsonEditor = lazy(async () => ({ default: (await import("../settings/json-editor.tsx")).JsonEditor }));

const example = `{
  "entry": { "url": "https://example.com/mcp", "headers": { "X-Region": "eu" } },
  "fields": [
    { "path": "headers.X-Api-Key", "tier": "user", "type": "secret", "required": true,
      "description": "From your account page." }
  ]
}
`;

interface NewTemplateProps {
  readonly team: string;
  readonly onClose: () => void;
}

/** Makes a template of an entry as in the configuration, or of a `server.json` of the registry. */
export function NewTemplate({ team, onClose }: NewTemplateProps) {
  const isAdmin = useWho().roles.includes("admin");
  const [slug, setSlug] = useState("");
  const [text, setText] = useState(example);
  const [isForAll, setForAll] = useState(false);
  const add = useOrder(
    async () => {
      const owner = isForAll ? {} : { team };
      return await valueOf(api.POST("/api/templates", { body: { slug: slug.trim(), ...owner, ...read(text) } }));
    },
    { changes: [["people"]], onDone: onClose },
  );
  return (
    <OrderModal title="Make a template" submit="Make it" order={add} isReady={slug.trim() !== ""} onClose={onClose}>
      <TextField
        label="Name"
        hint="Small letters, digits and hyphens."
        value={slug}
        onChange={({ target }) => setSlug(target.value)}
      />
      {isAdmin && (
        <CheckField
          label="For all teams"
          hint={`Otherwise for ${plain(team)} alone.`}
          checked={isForAll}
          onChange={({ target }) => setForAll(target.checked)}
        />
      )}
      <p className="muted">
        An entry and its fields, or a whole server.json of the MCP registry. A field has a path, the last tier that may
        give it (template, team, user), a type, and whether it is required, locked or visible.
        {!isAdmin && " Only admins of the gateway make templates of programs: yours have an address."}
      </p>
      <Suspense fallback={<Skeleton lines={8} />}>
        <JsonEditor label="Template" value={text} onChange={setText} />
      </Suspense>
    </OrderModal>
  );
}

type Content = { entry: Record<string, unknown>; fields: unknown[] } | { serverJson: Record<string, unknown> };

/** Throws ApiFailure if it is no JSON object. */
function read(text: string): Content {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(toFailure(error).message);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong("it is no object");
  const { entry, fields, ...others } = value as Record<string, unknown>;
  if (entry === undefined) return { serverJson: others };
  return { entry: entry as Record<string, unknown>, fields: (fields ?? []) as unknown[] };
}

function wrong(why: string): ApiFailure {
  return new ApiFailure({
    code: "TEMPLATE",
    detail: `This is no template: ${why}.`,
    hint: 'Write { "entry": …, "fields": [ … ] }, or paste a server.json.',
    status: 0,
  });
}
