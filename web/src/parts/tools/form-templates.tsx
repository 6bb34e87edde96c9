import type { ArrayFieldItemTemplateProps, ArrayFieldTemplateProps, IconButtonProps, TemplatesType } from "@rjsf/utils";
import { buttonId } from "@rjsf/utils";
import { ArrowDown, ArrowUp, Copy, Plus, Trash2, X, type LucideIcon } from "lucide-react";
import { counted } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";

/** The form's library takes its signs from a font that is not loaded here. */
function sign(Icon: LucideIcon, label: string) {
  return function Sign({ id, className, disabled, onClick }: IconButtonProps) {
    return (
      <Button
        look="plain"
        className={className ?? ""}
        aria-label={label}
        title={label}
        {...(id === undefined ? {} : { id })}
        disabled={disabled}
        onClick={onClick}
      >
        <Icon aria-hidden size={15} />
      </Button>
    );
  };
}

/** A list: its items, and below them the button for another one. */
function List(props: ArrayFieldTemplateProps) {
  const { fieldPathId, registry, schema, uiSchema, required, title, items, canAdd, disabled, readonly } = props;
  const { ArrayFieldTitleTemplate: Title, ArrayFieldDescriptionTemplate: About } = registry.templates;
  const shared = { fieldPathId, schema, registry, ...(uiSchema === undefined ? {} : { uiSchema }) };
  return (
    <fieldset className="form-list" id={fieldPathId.$id}>
      <Title {...shared} title={title} required={required ?? false} optionalDataControl={props.optionalDataControl} />
      {schema.description !== undefined && <About {...shared} description={schema.description} />}
      {items}
      {canAdd === true && (
        <div className="form-add">
          <Button
            id={buttonId(fieldPathId, "add")}
            disabled={disabled === true || readonly === true}
            onClick={props.onAddClick}
          >
            <Plus aria-hidden size={14} /> Add to {title}
          </Button>
          <span className="muted">{counted(items.length, "item")}</span>
        </div>
      )}
    </fieldset>
  );
}

/** One item, with what can be done with it beside it. */
function Item({ children, buttonsProps, hasToolbar, index, registry }: ArrayFieldItemTemplateProps) {
  const { ArrayFieldItemButtonsTemplate: Buttons } = registry.templates;
  return (
    <div className="form-item">
      <div className="grow">{children}</div>
      {hasToolbar && (
        <div className="form-signs" role="group" aria-label={`Item ${index + 1}`}>
          <Buttons {...buttonsProps} />
        </div>
      )}
    </div>
  );
}

/** The parts of a form that the library would show with signs of its own, or with classes of another style sheet. */
export const formTemplates: Partial<Omit<TemplatesType, "ButtonTemplates">> & {
  readonly ButtonTemplates: Partial<TemplatesType["ButtonTemplates"]>;
} = {
  ArrayFieldTemplate: List,
  ArrayFieldItemTemplate: Item,
  ButtonTemplates: {
    AddButton: sign(Plus, "Add"),
    CopyButton: sign(Copy, "Copy"),
    MoveUpButton: sign(ArrowUp, "Move up"),
    MoveDownButton: sign(ArrowDown, "Move down"),
    RemoveButton: sign(Trash2, "Remove"),
    ClearButton: sign(X, "Clear"),
  },
};
