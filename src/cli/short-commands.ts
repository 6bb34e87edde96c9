/**
 * The commands that do not become a gateway. They are loaded together, because what several of them share with a
 * gateway would otherwise be six files more at each start of one. The live view of a gateway on a terminal, and
 * messages about mistyped commands, are here for the same reason. A row of the table of commands that has no `load`
 * means the function of its name.
 */
export { approvals, policy } from "./tools/approvals-command.ts";
export { definitions } from "./tools/definitions-command.ts";
export { call } from "./tools/call-command.ts";
export { complete, completion } from "./completion/completion-command.ts";
export { profiles, prompts, read, resources, tools } from "./tools/list-commands.ts";
export { search } from "./tools/search-command.ts";
export { show } from "./tools/show-command.ts";
export { audit } from "./records/audit-command.ts";
export { calls, events, logs, protocol } from "./records/record-commands.ts";
export { connect, disconnect, listClients as clients } from "./clients/client-commands.ts";
export { restart, stop, open, status } from "./serve/control-commands.ts";
export { install, installations, key, secret, template, uninstall } from "./people/installs-command.ts";
export { importServers as import } from "./import/import-command.ts";
export { config } from "./setup/config-command.ts";
export { doctor } from "./doctor/doctor-command.ts";
export { sandbox } from "./servers/sandbox-command.ts";
export { servers } from "./servers/servers-command.ts";
export { invite, team } from "./people/team-command.ts";
export { login, logout } from "./setup/login-command.ts";
export { unknownCommand, wrongOption } from "./command/mistyped.ts";
export { drain, nodes } from "./serve/nodes-command.ts";
export { service } from "./setup/service-command.ts";
export { backup, db, restore } from "./setup/database-command.ts";
export { openVisit as visit } from "./serve/guided-start.ts";
export { tokens, usage } from "./records/usage-command.ts";
export { trust, askTrust } from "./clients/trust-command.ts";
export { app, client, session, user, token } from "./people/user-command.ts";
