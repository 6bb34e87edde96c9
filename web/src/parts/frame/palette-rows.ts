import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  FileText,
  LogOut,
  Moon,
  Play,
  Plus,
  RotateCcw,
  ScrollText,
  Search,
  Square,
  type LucideIcon,
} from "lucide-react";
import { api, valueOf } from "../../api/client.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { logOut } from "../../api/session.ts";
import { useWho } from "../../api/who.ts";
import { pagesFor } from "../../pages-list.ts";
import { themeStore } from "../../theme.ts";
import { plain, shortened } from "../../words/format.ts";
import { best, rankOf } from "../../words/palette-rank.ts";
import { byNeed, statusWords } from "../../words/status.ts";
import { effectText } from "../../words/tool-effect.ts";

/** One line of the palette. */
export interface PaletteRow {
  readonly id: string;
  readonly name: string;
  /** Beside the name, and searched as well. */
  readonly about: string;
  readonly icon: LucideIcon | { readonly server: string };
  readonly run: () => void;
}

export interface PaletteGroup {
  readonly title: string;
  readonly rows: readonly PaletteRow[];
}

const mostOfGroup = 6;
const aboutLength = 70;

/** The lines that fit the typed words. A text that begins with `>` means actions alone. */
export function usePaletteRows(text: string, close: () => void): readonly PaletteGroup[] {
  const isActions = text.startsWith(">");
  const typed = (isActions ? text.slice(1) : text).trim();
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const actions = useActions(close);
  const places = usePlaces(close);
  const fit = (rows: readonly PaletteRow[], most = mostOfGroup): readonly PaletteRow[] =>
    best(rows, ({ name, about }) => rankOf(words, name, about), most);
  const groups: readonly PaletteGroup[] = isActions
    ? [{ title: "Actions", rows: fit(actions, 40) }]
    : [
        { title: "Servers", rows: fit(places.servers) },
        { title: "Tools", rows: words.length === 0 ? [] : fit(places.tools) },
        { title: "Actions", rows: words.length === 0 ? [] : fit(actions) },
        { title: "Pages", rows: fit(places.pages, 20) },
        { title: "Search", rows: typed === "" ? [] : [places.search(typed)] },
      ];
  return groups.filter(({ rows }) => rows.length > 0);
}

function usePlaces(close: () => void) {
  const navigate = useNavigate();
  const who = useWho();
  const { data: status } = useQuery(queries.status);
  const { data: tools = [] } = useQuery(queries.tools);
  const { use, run } = pagesFor(who);
  const act = (what: () => void) => (): void => {
    close();
    what();
  };
  return {
    servers: [...(status?.servers ?? [])].sort(byNeed).map((server): PaletteRow => ({
      id: `server ${server.instance}`,
      name: plain(server.title),
      about: statusWords(server).word,
      icon: { server: server.server },
      run: act(
        () =>
          void navigate({
            to: "/servers/$server",
            params: { server: server.server },
            search: { instance: server.instance },
          }),
      ),
    })),
    tools: tools.map((tool): PaletteRow => ({
      id: `tool ${tool.tool_path}`,
      name: plain(tool.tool_path),
      about: shortened(plain(tool.description ?? effectText(tool)).replaceAll(/\s+/g, " "), aboutLength),
      icon: Play,
      run: act(() => void navigate({ to: "/run/$tool", params: { tool: tool.tool_path } })),
    })),
    pages: [...use, ...run].map(({ to, label, icon, key }): PaletteRow => ({
      id: `page ${to}`,
      name: label,
      about: `g ${key}`,
      icon,
      run: act(() => void navigate({ to })),
    })),
    search: (query: string): PaletteRow => ({
      id: "search",
      name: `Search tools for “${query}”`,
      about: "as a model would",
      icon: Search,
      run: act(() => void navigate({ to: "/search", search: { query } })),
    }),
  };
}

/** Actions that need no question, and the ways to those that do. */
function useActions(close: () => void): readonly PaletteRow[] {
  const navigate = useNavigate();
  const { mayManage } = useWho();
  const { data: status } = useQuery(queries.status);
  const start = useOrder(
    async ({ instance }: { readonly instance: string; readonly title: string }) =>
      await valueOf(api.POST("/api/instances/{id}/restart", { params: { path: { id: instance } } })),
    { changes: [["status"], ["tools"]], said: ({ title }) => ({ text: `${title} is starting.` }) },
  );
  const act = (what: () => void) => (): void => {
    close();
    what();
  };
  const ofServers = (status?.servers ?? []).flatMap((server): readonly PaletteRow[] => {
    const title = plain(server.title);
    const page = (tab: "log" | "status") => (): void =>
      void navigate({
        to: "/servers/$server",
        params: { server: server.server },
        search: { instance: server.instance, tab },
      });
    const { tone } = statusWords(server);
    const isDown = tone === "bad" || tone === "asleep" || server.next?.step === "start";
    const icon = isDown ? RotateCcw : Square;
    return [
      ...(server.status === "disabled" && server.next?.step !== "start"
        ? []
        : [
            {
              id: `start ${server.instance}`,
              name: isDown ? `Start ${title}` : `Restart or stop ${title}`,
              about: "",
              icon,
              run: act(isDown ? () => start.mutate({ instance: server.instance, title }) : page("status")),
            },
          ]),
      { id: `log ${server.instance}`, name: `Log of ${title}`, about: "", icon: ScrollText, run: act(page("log")) },
    ];
  });
  const themes = (["light", "dark", "system"] as const).map((theme): PaletteRow => ({
    id: `theme ${theme}`,
    name: theme === "system" ? "Theme of the system" : `${theme === "light" ? "Light" : "Dark"} theme`,
    about: "",
    icon: Moon,
    run: act(() => themeStore.set(theme)),
  }));
  return [
    ...(mayManage
      ? [
          {
            id: "add",
            name: "Add a server",
            about: "",
            icon: Plus,
            run: act(() => void navigate({ to: "/servers", search: { add: "true" } })),
          },
        ]
      : []),
    {
      id: "failed",
      name: "Failed calls",
      about: "",
      icon: FileText,
      run: act(() => void navigate({ to: "/calls", search: { failed: "true" } })),
    },
    ...themes,
    { id: "out", name: "Log out", about: "", icon: LogOut, run: act(() => void logOut()) },
    ...ofServers,
  ];
}
