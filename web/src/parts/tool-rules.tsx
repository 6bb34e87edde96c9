import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { toFailure } from "../api/failure.ts";
import { queries, useOrder, type ToolRow } from "../api/queries.ts";
import { counted, plain } from "../words/format.ts";
import {
  hidingRules,
  withDescription,
  withHidden,
  withName,
  withoutRule,
  type HidingRule,
} from "../words/tool-rules.ts";
import { Button } from "./button.tsx";
import { Modal } from "./confirm.tsx";
import { TextField } from "./field.tsx";
import { FailureNote, Loaded, Skeleton } from "./states.tsx";

interface ToolRulesProps {
  readonly chosen: readonly ToolRow[];
  readonly onDone: () => void;
}

/** A change of the file that somebody looks at before it is made. */
interface Plan {
  readonly title: string;
  readonly text: string;
  readonly etag: string;
}

/** Hides and renames tools: rules in their servers' entries of the configuration file. */
export function ToolRules({ chosen, onDone }: ToolRulesProps) {
  const config = useQuery(queries.config);
  return <Loaded query={config}>{(file) => <Rules file={file} chosen={chosen} onDone={onDone} />}</Loaded>;
}

function Rules({ file, chosen, onDone }: ToolRulesProps & { readonly file: Schemas["ConfigFile"] }) {
  const [plan, setPlan] = useState<Plan>();
  const [name, setName] = useState("");
  const [about, setAbout] = useState("");
  const [problem, setProblem] = useState("");
  const [only] = chosen;
  const prepare = (title: string, text: string | undefined): void => {
    setProblem(text === undefined ? "The file has no such entry, or something else in this place: see Settings." : "");
    if (text !== undefined) setPlan({ title, text, etag: file.etag });
  };
  const targets = chosen.map(({ server, upstream_name: upstream }) => ({ server, name: upstream }));
  const [target] = targets;
  const rules = hidingRules(file.text);
  return (
    <div className="stack">
      <div className="filters" role="group" aria-label="Rules">
        {chosen.length === 0 ? (
          <p className="muted">Choose tools to hide them from models, or one to give it another name or description.</p>
        ) : (
          <Button onClick={() => prepare(`Hide ${counted(chosen.length, "tool")}?`, withHidden(file.text, targets))}>
            Hide {counted(chosen.length, "tool")}
          </Button>
        )}
        {chosen.length === 1 && target !== undefined && only !== undefined && (
          <>
            <TextField
              label={`New name of ${plain(only.name)}`}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
            <Button
              isBusy={name.trim() === ""}
              onClick={() => prepare(`Rename ${plain(only.name)}?`, withName(file.text, target, name.trim()))}
            >
              Rename
            </Button>
            <TextField
              label={`New description of ${plain(only.name)}`}
              placeholder="empty: its own"
              value={about}
              onChange={(event) => setAbout(event.target.value)}
            />
            <Button
              onClick={() =>
                prepare(`Describe ${plain(only.name)} otherwise?`, withDescription(file.text, target, about.trim()))
              }
            >
              Describe
            </Button>
          </>
        )}
      </div>
      {problem !== "" && (
        <p className="note bad" role="alert">
          {problem}
        </p>
      )}
      {rules.length > 0 && (
        <details>
          <summary>Hidden by {counted(rules.length, "rule")}</summary>
          <HiddenList
            rules={rules}
            onShow={(rule) => prepare(`Show ${plain(rule.name)} again?`, withoutRule(file.text, rule))}
          />
        </details>
      )}
      {plan !== undefined && (
        <PlanDialog
          plan={plan}
          onClose={(isSaved) => {
            setPlan(undefined);
            if (isSaved) onDone();
          }}
        />
      )}
    </div>
  );
}

function HiddenList({
  rules,
  onShow,
}: {
  readonly rules: readonly HidingRule[];
  readonly onShow: (rule: HidingRule) => void;
}) {
  return (
    <ul className="list">
      {rules.map((rule) => (
        <li key={`${rule.server} ${rule.at}`}>
          <code className="grow">
            {plain(rule.server)}: {plain(rule.name)}
          </code>
          <Button onClick={() => onShow(rule)} aria-label={`Show again: ${plain(rule.name)} of ${plain(rule.server)}`}>
            Show again
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** What would change of what is in force; saved only if the file is still the one that was read. */
function PlanDialog({ plan, onClose }: { readonly plan: Plan; readonly onClose: (isSaved: boolean) => void }) {
  const check = useQuery({
    queryKey: ["config", "check", plan.text],
    queryFn: async () => await valueOf(api.POST("/api/config/check", { body: { text: plan.text } })),
    gcTime: 60_000,
  });
  const save = useOrder(
    async () =>
      await valueOf(
        api.PUT("/api/config", { params: { header: { "If-Match": plan.etag } }, body: { text: plan.text } }),
      ),
    { changes: [["config"], ["tools"], ["status"]], onDone: () => onClose(true) },
  );
  const { isUsable = false, differences = [], problems = [] } = check.data ?? {};
  return (
    <Modal
      title={plan.title}
      isOpen
      onClose={() => onClose(false)}
      actions={
        <Button look="main" isBusy={save.isPending || !isUsable} onClick={() => save.mutate()}>
          Save
        </Button>
      }
    >
      {check.isPending && <Skeleton />}
      {check.isError && <FailureNote error={check.error} />}
      {differences.map(({ path, before, after }) => (
        <div key={path}>
          <code>{plain(path)}</code>
          <pre tabIndex={0} className="wrap">
            {plain(JSON.stringify(before) ?? "nothing")} → {plain(JSON.stringify(after) ?? "nothing")}
          </pre>
        </div>
      ))}
      {problems
        .filter(({ isWarning }) => !isWarning)
        .map(({ message }) => (
          <p key={message} className="note bad">
            {plain(message)}
          </p>
        ))}
      {save.error !== null && (
        <>
          <FailureNote error={save.error} />
          {toFailure(save.error).code === "CONFIG_CHANGED" && (
            <p>Somebody has changed the file meanwhile. Close this, and choose again.</p>
          )}
        </>
      )}
    </Modal>
  );
}
