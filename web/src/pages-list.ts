import {
  Activity,
  ArrowLeftRight,
  BookOpen,
  Boxes,
  Coins,
  FileText,
  Gauge,
  MonitorSmartphone,
  Rocket,
  ScrollText,
  Search,
  Server,
  Settings,
  ShieldCheck,
  Users,
  Wrench,
} from "lucide-react";
import type { Session } from "./api/session.ts";

/** Pages for everybody. The key goes there after `g`. */
const usePages = [
  { to: "/", label: "Overview", icon: Gauge, key: "o" },
  { to: "/servers", label: "Servers", icon: Server, key: "s" },
  { to: "/tools", label: "Tools", icon: Wrench, key: "t" },
  { to: "/search", label: "Search", icon: Search, key: "f" },
  { to: "/resources", label: "Resources", icon: FileText, key: "r" },
  { to: "/calls", label: "Calls", icon: Activity, key: "c" },
  { to: "/approvals", label: "Approvals", icon: ShieldCheck, key: "y" },
] as const;

/** In a gateway with users and teams. */
const peoplePage = { to: "/people", label: "People", icon: Users, key: "p" } as const;

/** Of a member their own, of an admin everybody's. */
const clientsPage = { to: "/clients", label: "Clients", icon: MonitorSmartphone, key: "a" } as const;

/** Of a member what their own clients and instances say. */
const protocolPage = { to: "/protocol", label: "Protocol", icon: ArrowLeftRight, key: "w" } as const;

/** In a gateway that is a node of a cluster. */
const nodesPage = { to: "/nodes", label: "Nodes", icon: Boxes, key: "n" } as const;

/** For the operator of the gateway; never mixed with pages for everyone. */
const runPages = [
  { to: "/logs", label: "Logs and events", icon: ScrollText, key: "l" },
  protocolPage,
  clientsPage,
  peoplePage,
  nodesPage,
  { to: "/tokens", label: "Token cost", icon: Coins, key: "k" },
  { to: "/settings", label: "Settings", icon: Settings, key: "e" },
  { to: "/start", label: "Start", icon: Rocket, key: "b" },
  { to: "/api", label: "API", icon: BookOpen, key: "i" },
] as const;

export type PageRow = (typeof usePages)[number] | (typeof runPages)[number];

/** The pages of the navigation that somebody sees, in its two groups. */
export function pagesFor({ roles, hasPeople, isNode }: Pick<Session, "roles" | "hasPeople" | "isNode">): {
  readonly use: readonly PageRow[];
  readonly run: readonly PageRow[];
} {
  const isAdmin = roles.includes("admin");
  const isThere = new Map<PageRow, boolean>([
    [peoplePage, hasPeople],
    [nodesPage, isNode],
  ]);
  return {
    use: isAdmin ? usePages : [...usePages, protocolPage, clientsPage, ...(hasPeople ? [peoplePage] : [])],
    run: isAdmin ? runPages.filter((page) => isThere.get(page) ?? true) : [],
  };
}
