// The documentation's table of contents: what the site's navigation shows, in its order. A page of docs/ that is
// missing here is found by a test.
/**
 * @type {readonly { readonly title: string, readonly pages: readonly (readonly [file: string, title: string])[] }[]}
 */
export const siteMap = [
  {
    title: "Start",
    pages: [
      ["README.md", "Overview"],
      ["docs/first-run.md", "First run"],
      ["docs/quick-start.md", "Quick start for each client"],
      ["docs/import.md", "Take over your servers"],
      ["docs/connect.md", "Connect clients"],
      ["docs/recipes.md", "Recipes"],
      ["docs/faq.md", "Questions"],
    ],
  },
  {
    title: "Use",
    pages: [
      ["docs/dashboard.md", "Dashboard"],
      ["docs/everyday.md", "Everyday commands"],
      ["docs/servers.md", "Servers"],
      ["docs/login.md", "Logins"],
      ["docs/skills.md", "Skills"],
      ["docs/roots.md", "Folders of clients (roots)"],
      ["docs/stateful-servers.md", "Servers that hold something"],
      ["docs/search.md", "How search works"],
      ["docs/clients.md", "What clients do"],
      ["docs/clients-transcript.md", "A tool found and called"],
      ["docs/servers-tried.md", "Servers that were tried"],
    ],
  },
  {
    title: "What clients see",
    pages: [
      ["docs/exposures/meta.md", "Four tools"],
      ["docs/exposures/flat.md", "Every tool"],
      ["docs/exposures/namespaces.md", "Namespaces"],
      ["docs/exposures/server.md", "One server"],
      ["docs/exposures/instance.md", "One instance"],
      ["docs/exposures/sse.md", "HTTP+SSE"],
      ["docs/exposures/rest.md", "REST"],
    ],
  },
  {
    title: "Operate",
    pages: [
      ["docs/operations.md", "Operations"],
      ["docs/security.md", "Security"],
      ["docs/teams.md", "People and teams"],
      ["docs/team-servers.md", "Servers of teams"],
      ["docs/team-database.md", "Running it for teams"],
      ["docs/single-sign-on.md", "Single sign-on"],
      ["docs/teams-transcript.md", "Two teams at work"],
      ["docs/deployment.md", "Containers and services"],
      ["docs/behind-a-proxy.md", "Behind a reverse proxy"],
      ["docs/records.md", "Records"],
      ["docs/audit.md", "Audit"],
      ["docs/monitoring.md", "Monitoring"],
    ],
  },
  {
    title: "Reference",
    pages: [
      ["docs/configuration.md", "Configuration"],
      ["docs/cli.md", "Command line"],
      ["docs/errors.md", "Errors"],
      ["docs/events.md", "Events"],
      ["docs/embedding.md", "Embedding"],
      ["docs/protocol.md", "Protocol table"],
      ["docs/faults.md", "Faults table"],
    ],
  },
  {
    title: "About",
    pages: [
      ["docs/benchmarks.md", "Benchmarks"],
      ["docs/comparison.md", "Other gateways"],
      ["docs/design.md", "Design"],
      ["CONTRIBUTING.md", "Contributing"],
      ["CHANGELOG.md", "Changelog"],
      ["examples/README.md", "Examples"],
    ],
  },
  {
    title: "How it is built",
    pages: [
      ["ARCHITECTURE.md", "Architecture"],
      ["docs/architecture/cli.md", "Cli"],
      ["docs/architecture/app.md", "App"],
      ["docs/architecture/front.md", "Front"],
      ["docs/architecture/operations.md", "Operations"],
      ["docs/architecture/engine.md", "Engine"],
      ["docs/architecture/people.md", "People"],
      ["docs/architecture/records.md", "Records"],
      ["docs/architecture/store.md", "Store"],
      ["docs/architecture/servers.md", "Servers"],
      ["docs/architecture/catalog.md", "Catalog"],
      ["docs/architecture/config.md", "Config"],
      ["docs/architecture/wire.md", "Wire"],
      ["docs/architecture/kernel.md", "Kernel"],
      ["docs/architecture/build.md", "Build and dependencies"],
    ],
  },
];
