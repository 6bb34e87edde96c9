import { lazy, Suspense } from "react";
import { api, valueOf } from "../../api/client.ts";
import { toFailure, ApiFailure } from "../../api/failure.ts";
import { useWho } from "../../api/who.ts";
import { plain } from "../../words/format.ts";
import { OrderForm } from "../forms/order-form.tsx";
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

/** Adds a template: an entry as in the configuration, or a `server.json` of the registry. */
export function NewTemplate({ team, onClose }: { readonly team: string; readonly onClose: () => void }) {
  const isAdmin = useWho().roles.includes("admin");
  return (
    <OrderForm
      title="Add a template"
      submit="Add"
      start={{ slug: "", isForAll: false, text: example }}
      fields={{
        slug: { label: "Name", hint: "Lowercase letters, digits and hyphens.", isNeeded: true },
        isForAll: isAdmin ? { label: "For all teams", hint: `Otherwise for ${plain(team)} only.` } : () => null,
        text: ({ values, set }) => (
          <>
            <p className="muted">
              An entry and its fields, or a whole server.json of the MCP registry. A field has a path, the last tier
              that may set it (template, team, user), a type, and whether it is required, locked or visible.
              {!isAdmin && " Only admins of the gateway add templates of programs; yours have an address."}
            </p>
            <Suspense fallback={<Skeleton lines={8} />}>
              <JsonEditor label="Template" value={values.text} onChange={(text) => set({ text })} />
            </Suspense>
          </>
        ),
      }}
      send={async ({ slug, isForAll, text }) =>
        await valueOf(api.POST("/api/templates", { body: { slug, ...(isForAll ? {} : { team }), ...read(text) } }))
      }
      onClose={onClose}
    />
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
