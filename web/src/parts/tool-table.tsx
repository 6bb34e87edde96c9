import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { queries, type ToolRow } from "../api/queries.ts";
import { count, counted, plain } from "../words/format.ts";
import { DataTable, type Column } from "./data-table.tsx";
import { Empty, Loaded } from "./states.tsx";

interface Row extends ToolRow {
  readonly calls: number;
  readonly errors: number;
}

const columns: readonly Column<Row>[] = [
  {
    heading: "Tool",
    width: "minmax(14rem, 1fr)",
    cell: ({ tool_path: tool }) => (
      <Link to="/run/$tool" params={{ tool }}>
        <code>{plain(tool)}</code>
      </Link>
    ),
  },
  {
    heading: "What it does",
    width: "minmax(16rem, 2fr)",
    cell: ({ description, title }) => {
      const text = plain(description ?? title ?? "");
      return (
        <span className="clip" title={text}>
          {text === "" ? <span className="muted">says nothing</span> : text}
        </span>
      );
    },
  },
  {
    heading: "Arguments",
    width: "minmax(10rem, 1fr)",
    cell: ({ input }) => (
      <code className="clip" title={plain(input)}>
        {plain(input)}
      </code>
    ),
  },
  {
    heading: "Changes",
    width: "6rem",
    cell: ({ read_only: isReading }) => (isReading ? <span className="muted">only reads</span> : "may change"),
  },
  {
    heading: "Calls 24 h",
    width: "6.5rem",
    align: "right",
    cell: ({ tool_path: tool, calls, errors }) =>
      calls === 0 ? (
        <span className="muted">none</span>
      ) : (
        <Link to="/calls" search={{ tool }}>
          {count(calls)}
          {errors > 0 && <span className="bad-text"> {count(errors)} failed</span>}
        </Link>
      ),
  },
];

interface ToolTableProps {
  readonly server?: string | undefined;
  readonly match: string;
  readonly changes?: string | undefined;
}

/** All tools that can be called, or those of one server. */
export function ToolTable({ server, match, changes = "" }: ToolTableProps) {
  const tools = useQuery(queries.tools);
  const usage = useQuery(queries.usage(24, "tool"));
  const status = useQuery(queries.status);
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
        return { ...tool, calls: use?.calls ?? 0, errors: use?.errors ?? 0 };
      });
  }, [tools.data, usage.data, server, match, changes]);
  return (
    <Loaded query={tools} lines={10}>
      {(all) => {
        if (rows.length > 0)
          return (
            <>
              <p className="muted" role="status">
                {counted(rows.length, "tool")}
              </p>
              <DataTable label="Tools" columns={columns} rows={rows} rowKey={({ tool_path: tool }) => tool} />
            </>
          );
        if (match !== "" || changes !== "") return <Empty title="No tool fits these filters" />;
        const servers = status.data?.servers ?? [];
        const isStarting = servers.some((row) =>
          ["provisioning", "command_received", "connecting", "discovering_tools"].includes(row.status),
        );
        if (isStarting) return <Empty title="Servers are starting: their tools appear here" />;
        if (servers.length === 0)
          return (
            <Empty title="No server is configured yet">
              <p>
                <Link to="/start">Bring the servers you already have</Link>, or <Link to="/servers">add one</Link>.
              </p>
            </Empty>
          );
        return (
          <Empty title={all.length === 0 ? "No server offers a tool" : "This server offers no tools"}>
            <p>
              It may not have come up yet, or rules in the configuration may hide all of them.{" "}
              <Link to="/servers">Look at the servers</Link>
            </p>
          </Empty>
        );
      }}
    </Loaded>
  );
}
