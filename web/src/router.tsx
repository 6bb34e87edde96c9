import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { BrokenPage, Frame, LoggedIn, UnknownPage } from "./frame.tsx";

const root = createRootRoute({ component: Frame, notFoundComponent: UnknownPage });

type Search = Readonly<Record<string, unknown>>;

/** Filters are in the address, so that a page can be sent to somebody, and the way back leads to the same. */
function texts<Name extends string>(...names: readonly Name[]) {
  return (search: Search): { [Each in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
      }),
    ) as { [Each in Name]?: string };
}

const getParentRoute = () => root;
const routes = [
  createRoute({
    getParentRoute,
    path: "/",
    validateSearch: texts("range", "what"),
    component: lazyRouteComponent(() => import("./pages/overview.tsx"), "Overview"),
  }),
  createRoute({
    getParentRoute,
    path: "/servers",
    validateSearch: texts("match", "show", "sort", "add"),
    component: lazyRouteComponent(() => import("./pages/servers.tsx"), "Servers"),
  }),
  createRoute({
    getParentRoute,
    path: "/servers/$server",
    validateSearch: texts("instance", "tab", "level", "match"),
    component: lazyRouteComponent(() => import("./pages/server.tsx"), "Server"),
  }),
  createRoute({
    getParentRoute,
    path: "/tools",
    validateSearch: texts("match", "server", "changes", "sort"),
    component: lazyRouteComponent(() => import("./pages/tools.tsx"), "Tools"),
  }),
  createRoute({
    getParentRoute,
    path: "/approvals",
    component: lazyRouteComponent(() => import("./pages/records/approvals.tsx"), "Approvals"),
  }),
  createRoute({
    getParentRoute,
    path: "/search",
    validateSearch: texts("query", "as", "tab", "limit", "detail"),
    component: lazyRouteComponent(() => import("./pages/search.tsx"), "Search"),
  }),
  createRoute({
    getParentRoute,
    path: "/run/$tool",
    component: lazyRouteComponent(() => import("./pages/run.tsx"), "Run"),
  }),
  createRoute({
    getParentRoute,
    path: "/resources",
    validateSearch: texts("match", "server", "uri", "tab", "prompt"),
    component: lazyRouteComponent(() => import("./pages/resources.tsx"), "Resources"),
  }),
  createRoute({
    getParentRoute,
    path: "/people",
    validateSearch: texts("tab", "match"),
    component: lazyRouteComponent(() => import("./pages/teams/people.tsx"), "People"),
  }),
  createRoute({
    getParentRoute,
    path: "/teams/$team",
    validateSearch: texts("tab"),
    component: lazyRouteComponent(() => import("./pages/teams/team.tsx"), "Team"),
  }),
  createRoute({
    getParentRoute,
    path: "/teams/$team/servers/$installation",
    component: lazyRouteComponent(() => import("./pages/teams/installation.tsx"), "InstallationPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/me",
    component: lazyRouteComponent(() => import("./pages/teams/me.tsx"), "Me"),
  }),
  createRoute({ getParentRoute, path: "/logged-in", component: LoggedIn }),
  createRoute({
    getParentRoute,
    path: "/calls",
    validateSearch: texts("server", "tool", "failed", "client"),
    component: lazyRouteComponent(() => import("./pages/records/calls.tsx"), "Calls"),
  }),
  createRoute({
    getParentRoute,
    path: "/calls/$id",
    component: lazyRouteComponent(() => import("./pages/records/call.tsx"), "Call"),
  }),
  createRoute({
    getParentRoute,
    path: "/logs",
    validateSearch: texts("server", "level", "match", "tab"),
    component: lazyRouteComponent(() => import("./pages/records/logs.tsx"), "Logs"),
  }),
  createRoute({
    getParentRoute,
    path: "/protocol",
    validateSearch: texts("client", "server", "method", "match"),
    component: lazyRouteComponent(() => import("./pages/protocol.tsx"), "Protocol"),
  }),
  createRoute({
    getParentRoute,
    path: "/clients",
    component: lazyRouteComponent(() => import("./pages/clients.tsx"), "Clients"),
  }),
  createRoute({
    getParentRoute,
    path: "/nodes",
    component: lazyRouteComponent(() => import("./pages/nodes.tsx"), "Nodes"),
  }),
  createRoute({
    getParentRoute,
    path: "/tokens",
    component: lazyRouteComponent(() => import("./pages/tokens.tsx"), "Tokens"),
  }),
  createRoute({
    getParentRoute,
    path: "/settings",
    component: lazyRouteComponent(() => import("./pages/settings.tsx"), "Settings"),
  }),
  createRoute({
    getParentRoute,
    path: "/start",
    component: lazyRouteComponent(() => import("./pages/start.tsx"), "Start"),
  }),
  createRoute({
    getParentRoute,
    path: "/api",
    validateSearch: texts("match", "operation"),
    component: lazyRouteComponent(() => import("./pages/api.tsx"), "Api"),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: "/ui",
  defaultPreload: "intent",
  defaultErrorComponent: BrokenPage,
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
