import type { FieldView } from "../../../people/installations/install-view.ts";
import { html, nothing, toSection, type Html } from "./page.ts";

/** Fields that a page can show: lists of arguments are given over REST. */
function isSimple({ path, editable }: FieldView): boolean {
  return editable && path !== "args";
}

/** What somebody gives of their own for a server. Secrets are written, and never shown. */
export function toFieldForm(fields: readonly FieldView[], toForm: (inside: Html) => Html): Html {
  const shown = fields.filter(isSimple);
  if (shown.length === 0) return nothing;
  const rows = shown.map((field, at) => toRow(field, `field-${at}`));
  return toSection(toForm(html`${rows}<button class="main">Save</button>`), "What is your own");
}

function toRow(field: FieldView, id: string): Html {
  const { path, description, required, set } = field;
  const needs = required && !set ? " (required)" : "";
  const hint = description === null ? nothing : html`<p class="muted" id="${id}-hint">${description}</p>`;
  const described = description === null ? "" : ` aria-describedby="${id}-hint"`;
  return html`<label for="${id}">${path}${needs}</label
    >${hint}${toInput(field, { id, described: { html: described } })}`;
}

function toInput(field: FieldView, { id, described }: { readonly id: string; readonly described: Html }): Html {
  const { path, type, choices, set, required } = field;
  const value = typeof field.value === "string" ? field.value : "";
  const needed: Html = { html: required && !set ? " required" : "" };
  if (type === "secret")
    return html`<input id="${id}" name="v:${path}" type="password" autocomplete="off" ${needed}${described} />
      ${set ? toRemoval(path, id) : nothing}`;
  const allowed = type === "boolean" ? ["true", "false"] : choices;
  if (allowed === null)
    return html`<input
      id="${id}"
      name="v:${path}"
      value="${value}"
      autocomplete="off"
      ${needed}${described}${{ html: type === "number" ? ' inputmode="decimal"' : "" }}
    />`;
  const options = ["", ...allowed].map(
    (one) => html`<option value="${one}" ${{ html: one === value ? "selected" : "" }}>${one}</option>`,
  );
  return html`<select id="${id}" name="v:${path}" ${needed}${described}>
    ${options}
  </select>`;
}

/** An empty field leaves a secret as it is: it cannot be shown, and so not be sent again. */
function toRemoval(path: string, id: string): Html {
  return html`<p class="muted">It is set; empty leaves it as it is.</p>
    <label class="line" for="${id}-off"
      ><input id="${id}-off" type="checkbox" name="off:${path}" value="yes" /> Remove it</label
    >`;
}

/** The changes that a form makes to these fields: only those that differ, null for a removed one. */
export function readFields(
  fields: readonly FieldView[],
  form: URLSearchParams,
): Readonly<Record<string, string | null>> {
  const given = fields.filter(isSimple).flatMap((field): readonly (readonly [string, string | null])[] => {
    const { path, type, set } = field;
    const text = form.get(`v:${path}`) ?? "";
    if (text !== "") return text === field.value ? [] : [[path, text]];
    const isTakenAway = type === "secret" ? form.get(`off:${path}`) === "yes" : set && form.has(`v:${path}`);
    return isTakenAway ? [[path, null]] : [];
  });
  return Object.fromEntries(given);
}
