import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { queries, type ToolRow } from "../../api/queries.ts";
import { counted, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { SelectField, TextField } from "../forms/field.tsx";
import { Loaded } from "../basic/states.tsx";
import { RuleDialog, RulesDialog, type RuleOrder, type RulesOrder } from "./rule-dialogs.tsx";

type Rule = Schemas["ToolRule"];

/** Hides, renames and describes tools: rules in their servers' entries of the configuration file. */
export function ToolRules({ chosen, onDone }: { readonly chosen: readonly ToolRow[]; readonly onDone: () => void }) {
  const rules = useQuery(queries.toolRules);
  const [several, setSeveral] = useState<RulesOrder>();
  const [single, setSingle] = useState<RuleOrder>();
  const [only] = chosen;
  const close = (isSaved: boolean): void => {
    setSeveral(undefined);
    setSingle(undefined);
    if (isSaved) onDone();
  };
  return (
    <div className="stack">
      <div className="filters" role="group" aria-label="Rules">
        {chosen.length === 0 ? (
          <p className="muted">
            Select tools to hide them from models, or one to rename it, describe it or have it ask first.
          </p>
        ) : (
          <Button onClick={() => setSeveral(hiding(chosen))}>Hide {counted(chosen.length, "tool")}</Button>
        )}
        {chosen.length === 1 && only !== undefined && <OneTool key={only.tool_path} tool={only} onOrder={setSingle} />}
      </div>
      <Loaded query={rules} lines={1}>
        {({ rules: all }) => <RuleLists rules={all} onShow={setSeveral} onForget={setSingle} />}
      </Loaded>
      {several !== undefined && <RulesDialog order={several} onClose={close} />}
      {single !== undefined && <RuleDialog order={single} onClose={close} />}
    </div>
  );
}

function hiding(chosen: readonly ToolRow[]): RulesOrder {
  return {
    title: `Hide ${counted(chosen.length, "tool")}?`,
    access: "deny",
    tools: chosen.map(({ tool_path: path }) => path),
  };
}

interface OneToolProps {
  readonly tool: ToolRow;
  readonly onOrder: (order: RuleOrder) => void;
}

/** Name and description of one tool, as its rule has them. */
function OneTool({ tool, onOrder }: OneToolProps) {
  const rule = useQuery(queries.toolRule(tool.tool_path));
  return (
    <Loaded query={rule} lines={1}>
      {(found) => <RuleFields key={found.etag} tool={tool} rule={found} onOrder={onOrder} />}
    </Loaded>
  );
}

function RuleFields({ tool, rule, onOrder }: OneToolProps & { readonly rule: Rule }) {
  const [name, setName] = useState(rule.name ?? "");
  const [about, setAbout] = useState(rule.description ?? "");
  const own = plain(tool.name);
  const order = (title: string, next: Partial<RuleOrder["next"]>): void =>
    onOrder({ path: tool.tool_path, title, rule, next: { ...toGiven(rule), ...next } });
  return (
    <>
      <SelectField
        label={`Does ${own} ask first?`}
        choices={[
          ["", "As its effect says"],
          ["always", "Always"],
          ["never", "Never"],
        ]}
        value={rule.asks ?? ""}
        onChange={({ target }) => order(`Change when ${own} asks?`, { asks: toAsks(target.value) })}
      />
      <TextField
        label={`New name of ${own}`}
        placeholder="empty: its own"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Button
        isBusy={name.trim() === (rule.name ?? "")}
        onClick={() => order(`Rename ${own}?`, { name: orNull(name) })}
      >
        Rename
      </Button>
      <TextField
        label={`New description of ${own}`}
        placeholder="empty: its own"
        value={about}
        onChange={({ target }) => setAbout(target.value)}
      />
      <Button
        isBusy={about.trim() === (rule.description ?? "")}
        onClick={() => order(`Describe ${own} otherwise?`, { description: orNull(about) })}
      >
        Describe
      </Button>
    </>
  );
}

function toAsks(value: string): Rule["asks"] {
  return value === "always" || value === "never" ? value : null;
}

function orNull(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

function toGiven({ access, asks, name, description, phrases }: Rule): RuleOrder["next"] {
  return { access, asks, name, description, phrases };
}

interface RuleListsProps {
  readonly rules: readonly Rule[];
  readonly onShow: (order: RulesOrder) => void;
  readonly onForget: (order: RuleOrder) => void;
}

/** What the file hides, and what it gives another name or text. */
function RuleLists({ rules, onShow, onForget }: RuleListsProps) {
  const hidden = rules.filter(({ access }) => access === "deny");
  const changed = rules.filter(
    ({ asks, name, description, phrases }) => (asks ?? name ?? description ?? phrases) !== null,
  );
  return (
    <>
      {hidden.length > 0 && (
        <details>
          <summary>Hidden by {counted(hidden.length, "rule")}</summary>
          <RuleList
            rules={hidden}
            label="Show again"
            onChoose={(rule) =>
              onShow({ title: `Show ${plain(rule.tool)} again?`, access: null, tools: [pathOf(rule)] })
            }
          />
        </details>
      )}
      {changed.length > 0 && (
        <details>
          <summary>Another name, text or question for {counted(changed.length, "tool")}</summary>
          <RuleList
            rules={changed}
            label="Take back"
            onChoose={(rule) =>
              onForget({
                path: pathOf(rule),
                title: `Take the rules for ${plain(rule.tool)} back?`,
                rule,
                next: { access: rule.access, asks: null, name: null, description: null, phrases: null },
              })
            }
          />
        </details>
      )}
    </>
  );
}

/** By the server's own name of the tool, which a hidden one has alone. */
function pathOf({ server, tool }: Rule): string {
  return `${server}:${tool}`;
}

interface RuleListProps {
  readonly rules: readonly Rule[];
  readonly label: string;
  readonly onChoose: (rule: Rule) => void;
}

function RuleList({ rules, label, onChoose }: RuleListProps) {
  return (
    <ul className="list">
      {rules.map((rule) => (
        <li key={pathOf(rule)}>
          <code className="grow">
            {plain(rule.server)}: {plain(rule.tool)}
            {rule.name === null ? "" : ` → ${plain(rule.name)}`}
          </code>
          <Button onClick={() => onChoose(rule)} aria-label={`${label}: ${plain(rule.tool)} of ${plain(rule.server)}`}>
            {label}
          </Button>
        </li>
      ))}
    </ul>
  );
}
