import { app, client, session } from "./people/access-command.ts";
import { audit } from "./records/audit-command.ts";
import { calls } from "./records/calls-command.ts";
import { connect } from "./clients/connect-command.ts";
import { restart, stop } from "./serve/control-commands.ts";
import { disconnect } from "./clients/disconnect-command.ts";
import { install, installations, key, secret, template, uninstall } from "./people/installs-command.ts";
import { listClients } from "./clients/clients-command.ts";
import { events } from "./records/events-command.ts";
import { importServers } from "./import/import-command.ts";
import { config } from "./setup/config-command.ts";
import { doctor } from "./doctor/doctor-command.ts";
import { servers } from "./servers/servers-command.ts";
import { invite, team } from "./people/team-command.ts";
import { user } from "./people/user-command.ts";
import { everydayCommands } from "./tools/everyday-commands.ts";
import { login, logout } from "./setup/login-command.ts";
import { logs } from "./records/logs-command.ts";
import { unknownCommand, wrongOption } from "./command/mistyped.ts";
import { open } from "./serve/open-command.ts";
import { service } from "./setup/service-command.ts";
import { status } from "./serve/status-command.ts";
import { token } from "./people/token-command.ts";
import { backup, db, restore } from "./setup/database-command.ts";
import { openVisit } from "./serve/guided-start.ts";
import { tokens } from "./records/tokens-command.ts";
import { trust } from "./clients/trust-command.ts";
import { askTrust } from "./clients/trust-question.ts";
import { usage } from "./records/usage-command.ts";

/**
 * The commands that do not become a gateway. They are loaded together, because what several of them share with a
 * gateway would otherwise be six files more at each start of one. The live view of a gateway on a terminal, and
 * messages about mistyped commands, are here for the same reason.
 */
export const shortCommands = {
  ...everydayCommands,
  app,
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
