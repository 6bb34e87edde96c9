import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { queries, type ToolRow } from "../../api/queries.ts";
import { useWho } from "../../api/who.ts";
import { count, counted, plain, tokenCount } from "../../words/format.ts";
import { effectText } from "../../words/tool-effect.ts";
import { ruleText } from "../../words/tool-rule-text.ts";
import { toCommand } from "../../words/words.ts";
import { Button } from "../basic/button.tsx";
import { DataTable, type Column } from "../basic/data-table.tsx";
import { Folded } from "../basic/folded.tsx";
import { Name } from "../basic/name.tsx";
import { LastUse, useLastUse, type LastUsed } from "../servers/last-use.tsx";
import { ListCopies } from "../servers/list-copies.tsx";
import { NoTools } from "./no-tools.tsx";
import { Empty, Loaded } from "../basic/states.tsx";

interface Row extends ToolRow {
  readonly lastUse: LastUsed;
  readonly calls: number;
  readonly errors: number;
  /** What the configuration says of it, in a few words. */
  readonly rule: string;
}

const columns: readonly Column<Row>[] = [
  {
    heading: "Tool",
    width: "minmax(14rem, 3fr)",
    sortBy: ({ tool_path: tool }) => tool,
    cell: ({ tool_path: tool, description, title, input }) => {
      const about = plain(description ?? title ?? "").replaceAll(/\s+/g, " ");
      return (
        <>
          <Link to="/run/$tool" params={{ tool }} title={`${plain(tool)} ${plain(input)}`}>
            <code>
              <Name>{tool}</Name>
            </code>
          </Link>
          <span className="second">{about === "" ? "No description" : <Folded text={about} />}</span>
        </>
      );
    },
  },
  {
    heading: "Changes",
    width: "minmax(7.5rem, 0.7fr)",
    sortBy: effectText,
    cell: (row) => (
      <>
        <span className={row.effect === "read" ? "muted" : undefined}>{effectText(row)}</span>
        {row.decided_by !== null && <span className="second">{plain(row.decided_by)}</span>}
      </>
    ),
  },
  {
    heading: "Tokens",
    width: "4.8rem",
    align: "right",
    sortBy: ({ tokens }) => tokens,
    cell: ({ tokens, tokens_exact: isExact }) => `${isExact ? "" : "~"}${count(tokens)}`,
  },
  {
    heading: "Calls 24 h",
    width: "6.6rem",
    align: "right",
    from: 640,
    sortBy: ({ calls }) => calls,
    cell: ({ tool_path: tool, calls, errors }) =>
      calls === 0 ? (
        <span className="muted">0</span>
      ) : (
        <Link to="/calls" search={{ tool }}>
          {count(calls)}
          {errors > 0 && <span className="bad-text">, {count(errors)} failed</span>}
        </Link>
      ),
  },
  {
    heading: "Last used",
    width: "6.6rem",
    from: 800,
    sortBy: ({ lastUse }) => lastUse.hour,
    cell: ({ lastUse }) => <LastUse use={lastUse} />,
  },
];

interface ToolTableProps {
  readonly server?: string | undefined;
  readonly match: string;
  readonly changes?: string | undefined;
  /** See `DataTable`. */
  readonly sort?: string | undefined;
  readonly onSort?: ((sort: string) => void) | undefined;
  /** For people who may choose tools to change their rules. */
  readonly choice?: Choice | undefined;
}

export interface Choice {
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (tools: readonly string[], isChosen: boolean) => void;
}

/** For people who may see rules. */
const ruleColumn: Column<Row> = {
  heading: "Rule",
  width: "minmax(6rem, 0.6fr)",
  from: 900,
  sortBy: ({ rule }) => (rule === "" ? null : rule),
  cell: ({ rule }) => (rule === "" ? <span className="muted">–</span> : rule),
};

function chooser({ chosen, onChoose }: Choice): Column<Row> {
  return {
    heading: "Chosen",
    width: "4.2rem",
    cell: ({ tool_path: tool }) => (
      <input
        type="checkbox"
        aria-label={`Choose ${plain(tool)}`}
        checked={chosen.has(tool)}
        onChange={({ target }) => onChoose([tool], target.checked)}
      />
    ),
  };
}

/** All tools that can be called, or those of one server. */
export function ToolTable({ server, match, changes = "", sort, onSort, choice }: ToolTableProps) {
  const tools = useQuery(queries.tools);
  const usage = useQuery(queries.usage(24, "tool"));
  const lastUse = useLastUse("tool");
  const { mayManage } = useWho();
  const { data: ruled } = useQuery({ ...queries.toolRules, enabled: mayManage });
  const rows = useMemo(() => {
    const used = new Map((usage.data?.usage ?? []).map((row) => [row.group["tool"], row]));
    const words = match.toLowerCase().split(/\s+/);
    return (tools.data ?? [])
      .filter((tool) => server === undefined || tool.server === server)
      .filter((tool) => changes === "" || tool.read_only === (changes === "reads"))
      .filter((tool) => {
        const text = `${tool.tool_path} ${tool.title ?? ""} ${tool.description ?? ""}`.toLowerCase();
        return words.every((word) => text.includes(word));
      })
      .map((tool): Row => {
        const use = used.get(tool.tool_path);
        const { calls = 0, errors = 0 } = use ?? {};
        return { ...tool, calls, errors, lastUse: lastUse(tool.tool_path), rule: ruleText(ruled?.rules ?? [], tool) };
      });
  }, [tools.data, usage.data, ruled, lastUse, server, match, changes]);
  const shown = useMemo(() => {
    const all = mayManage ? [...columns, ruleColumn] : columns;
    return choice === undefined ? all : [chooser(choice), ...all];
  }, [choice, mayManage]);
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  const areExact = rows.every((row) => row.tokens_exact);
  return (
    <Loaded query={tools} lines={10}>
      {() => {
        if (rows.length > 0)
          return (
            <>
              <div className="bar-line">
                <p className="muted" role="status">
                  {counted(rows.length, "tool")}, {tokenCount({ tokens, isExact: areExact })} tokens in a flat list
                </p>
                {choice !== undefined && (
                  <Button
                    onClick={() =>
                      choice.onChoose(
                        rows.map(({ tool_path: tool }) => tool),
                        choice.chosen.size < rows.length,
                      )
                    }
                  >
                    {choice.chosen.size < rows.length ? "Choose all of these" : "Choose none"}
                  </Button>
                )}
                <div className="actions">
                  <ListCopies
                    command={
                      changes === "" && sort === undefined ? toCommand("tools", [server ?? ""], { match }) : undefined
                    }
                    rows={rows}
                  />
                </div>
              </div>
              <DataTable
                {...{ label: "Tools", columns: shown, rows, sort, onSort }}
                rowKey={({ tool_path: tool }) => tool}
              />
            </>
          );
        if (match !== "" || changes !== "") return <Empty title="No tool fits these filters" />;
        return <NoTools server={server} />;
      }}
    </Loaded>
  );
}
