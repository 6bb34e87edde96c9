import Form from "@rjsf/core/lib/components/Form.js";
import type { RJSFSchema, UiSchema } from "@rjsf/utils";
import { Component, useRef, type ReactNode } from "react";
import { Empty } from "../basic/states.tsx";
import { schemaValidator } from "../settings/schema-validator.ts";
import { createFilledIn } from "./filled-in.ts";
import { formTemplates } from "./form-templates.tsx";

export interface ToolFormProps {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: Readonly<Record<string, unknown>>;
  readonly onChange: (value: Readonly<Record<string, unknown>>) => void;
  /** Called when the arguments fit the schema. */
  readonly onSubmit: () => void;
  readonly children: ReactNode;
  /** Ids of fields begin with it: two forms of one page have different ones. */
  readonly idPrefix?: string;
}

const ui: UiSchema = { "ui:submitButtonOptions": { norender: true } };

/**
 * A form for any schema. What it cannot show is edited as JSON. Optional members are in the value once they were filled
 * in.
 */
export function ToolForm({ schema, value, onChange, onSubmit, children, idPrefix = "args" }: ToolFormProps) {
  const { current: filled } = useRef(createFilledIn(idPrefix));
  /** What this form itself said last; any other value comes from elsewhere. */
  const said = useRef<ToolFormProps["value"] | undefined>(undefined);
  if (said.current !== value) filled.take(value);
  const change = (values: unknown, fieldId: string | undefined): void => {
    if (fieldId !== undefined) filled.note(fieldId);
    said.current = filled.withoutGuesses((values ?? {}) as ToolFormProps["value"], schema);
    onChange(said.current);
  };
  return (
    <Fallback key={JSON.stringify(schema)}>
      <Form
        className="tool-form"
        // The usual one is that of the page itself.
        idPrefix={idPrefix}
        schema={withoutTitle(schema)}
        uiSchema={ui}
        templates={formTemplates}
        formData={value}
        validator={schemaValidator}
        showErrorList={false}
        noHtml5Validate
        focusOnFirstError
        onChange={({ formData }, fieldId) => change(formData, fieldId)}
        onSubmit={onSubmit}
      >
        {children}
      </Form>
    </Fallback>
  );
}

/** The page has the tool's name already. Dialects are those of the validator. */
function withoutTitle({
  title: _title,
  description: _about,
  $schema: _dialect,
  ...schema
}: ToolFormProps["schema"]): RJSFSchema {
  return { type: "object", ...schema } as RJSFSchema;
}

class Fallback extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return <Empty title="This schema has no form: write the arguments as JSON" />;
  }
}
