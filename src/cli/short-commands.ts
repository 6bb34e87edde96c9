import { approvals, policy } from "./tools/approvals-command.ts";
import { definitions } from "./tools/definitions-command.ts";
import { call } from "./tools/call-command.ts";
import { complete, completion } from "./completion/completion-command.ts";
import { prompts, read, resources, tools } from "./tools/list-commands.ts";
import { search } from "./tools/search-command.ts";
import { show } from "./tools/show-command.ts";
import { app, client, session } from "./people/access-command.ts";
import { audit } from "./records/audit-command.ts";
import { calls, events, logs, protocol } from "./records/record-commands.ts";
import { connect, disconnect, listClients } from "./clients/client-commands.ts";
import { restart, stop, open, status } from "./serve/control-commands.ts";
import { install, installations, key, secret, template, uninstall } from "./people/installs-command.ts";
import { importServers } from "./import/import-command.ts";
import { config } from "./setup/config-command.ts";
import { doctor } from "./doctor/doctor-command.ts";
import { servers } from "./servers/servers-command.ts";
import { invite, team } from "./people/team-command.ts";
import { user, token } from "./people/user-command.ts";
import { login, logout } from "./setup/login-command.ts";
import { unknownCommand, wrongOption } from "./command/mistyped.ts";
import { service } from "./setup/service-command.ts";
import { backup, db, restore } from "./setup/database-command.ts";
import { openVisit } from "./serve/guided-start.ts";
import { tokens, usage } from "./records/usage-command.ts";
import { trust, askTrust } from "./clients/trust-command.ts";

/** The commands of every day, which use the running gateway or start one in the background. */
export const everydayCommands = { call, complete, completion, prompts, read, resources, search, show, tools } as const;

/**
 * The commands that do not become a gateway. They are loaded together, because what several of them share with a
 * gateway would otherwise be six files more at each start of one. The live view of a gateway on a terminal, and
 * messages about mistyped commands, are here for the same reason.
 */
export const shortCommands = {
  policy,
  definitions,
  ...everydayCommands,
  app,
  approvals,
  askTrust,
  audit,
  backup,
  calls,
  connect,
  disconnect,
  client,
  clients: listClients,
  config,
  db,
  doctor,
  events,
  import: importServers,
  install,
  installations,
  key,
  login,
  logout,
  logs,
  open,
  protocol,
  restart,
  restore,
  servers,
  secret,
  service,
  session,
  status,
  stop,
  invite,
  team,
  template,
  token,
  tokens,
  trust,
  uninstall,
  unknownCommand,
  usage,
  user,
  wrongOption,
  visit: openVisit,
} as const;
