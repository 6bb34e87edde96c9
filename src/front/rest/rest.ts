import type { RestHandler } from "../http/http-server.ts";
import { createRestApp } from "./app.ts";
import { createAuditRoutes } from "./routes-audit.ts";
import { createTextCache } from "./cached-text.ts";
import type { RestDeps } from "./deps.ts";
import { createDocumentationRoutes } from "./documentation.ts";
import { createExecuteHandler } from "./execute-handler.ts";
import { createCommandRoutes } from "./routes-commands.ts";
import { createConfigRoutes } from "./routes-config.ts";
import { createSessionRoutes } from "./routes-session.ts";
import { createEventRoutes } from "./routes-events.ts";
import { createCallRoutes } from "./routes-calls.ts";
import { describeExecute } from "./routes-execute.ts";
import { createHistoryRoutes } from "./routes-history.ts";
import { createInstanceAccessRoutes } from "./routes-instance-access.ts";
import { createInstanceRoutes } from "./routes-instances.ts";
import { createPinRoutes } from "./routes-pins.ts";
import { createKeptSearchRoutes } from "./routes-kept-searches.ts";
import { createLogRoutes } from "./routes-logs.ts";
import { createNamespaceRoutes } from "./routes-namespaces.ts";
import { createQuestionRoutes } from "./routes-questions.ts";
import { createRestQuestions } from "./rest-questions.ts";
import { createPromptRoutes } from "./routes-prompts.ts";
import { createResourceRoutes } from "./routes-resources.ts";
import type { Route } from "./route.ts";
import { createSearchRoutes } from "./routes-search.ts";
import { createServerDetailRoutes } from "./routes-server-details.ts";
import { createServerCommandRoutes } from "./routes-server-commands.ts";
import { createServerEntryRoutes } from "./routes-server-entries.ts";
import { createServerRoutes } from "./routes-servers.ts";
import { createStatusRoutes } from "./routes-status.ts";
import { createSupportRoutes } from "./routes-support.ts";
import { createSystemRoutes } from "./routes-system.ts";
import { createToolRoutes } from "./routes-tools.ts";
import { createToolRuleRoutes } from "./routes-tool-rules.ts";
import { createInviteRoutes } from "./routes-invites.ts";
import { createInstallationRoutes } from "./routes-installations.ts";
import { createInstallationCheckRoutes } from "./routes-installation-checks.ts";
import { createSecretRoutes } from "./routes-secrets.ts";
import { createServerValueRoutes } from "./routes-server-values.ts";
import { createTemplateRoutes } from "./routes-templates.ts";
import { createAccessRoutes } from "./routes-access.ts";
import { createClientRoutes } from "./routes-oauth-clients.ts";
import { createMeRoutes } from "./routes-me.ts";
import { createMemberRoutes } from "./routes-members.ts";
import { createTeamRoutes } from "./routes-teams.ts";
import { createUpkeepRoutes } from "./routes-upkeep.ts";
import { createUserRoutes } from "./routes-users.ts";
import { createUsageRoutes } from "./routes-usage.ts";
import { createTrialTurns } from "./trial-turns.ts";

/** The REST API as a request handler. It does not listen itself. A new route changes only the file of its group. */
export function createRest(deps: RestDeps): RestHandler {
  const questions = createRestQuestions();
  const app = createRestApp(deps, createRoutes(deps, questions));
  const execute = createExecuteHandler(deps, questions);
  return (request, response) => {
    if (!execute(request, response)) app(request, response);
  };
}

/** Every route that there is: each says who may use it. */
export function createRoutes(deps: RestDeps, questions = createRestQuestions()): readonly Route[] {
  const cache = createTextCache();
  const trials = createTrialTurns(deps.clock);
  const routes = [
    ...createNamespaceRoutes(deps, cache),
    ...describeExecute(),
    ...createQuestionRoutes(questions),
    ...createToolRoutes(deps, cache),
    ...createToolRuleRoutes(deps),
    ...createSearchRoutes(deps),
    ...createKeptSearchRoutes(deps),
    ...createPinRoutes(deps),
    ...createResourceRoutes(deps),
    ...createPromptRoutes(deps),
    ...createServerRoutes(deps, cache),
    ...createServerDetailRoutes(deps),
    ...createServerEntryRoutes(deps),
    ...createInstanceRoutes(deps),
    ...createInstanceAccessRoutes(deps),
    ...createStatusRoutes(deps),
    ...createCallRoutes(deps),
    ...createLogRoutes(deps),
    ...createHistoryRoutes(deps),
    ...createAuditRoutes(deps),
    ...createSupportRoutes(deps),
    ...createSystemRoutes(deps),
    ...createEventRoutes(deps),
    ...createUsageRoutes(deps),
    ...createSessionRoutes(deps),
    ...createConfigRoutes(deps),
    ...createCommandRoutes(deps),
    ...createServerCommandRoutes(deps, trials),
    ...createMeRoutes(deps),
    ...createUserRoutes(deps),
    ...createAccessRoutes(deps),
    ...createClientRoutes(deps),
    ...createTeamRoutes(deps),
    ...createMemberRoutes(deps),
    ...createInviteRoutes(deps),
    ...createTemplateRoutes(deps),
    ...createInstallationRoutes(deps),
    ...createInstallationCheckRoutes(deps, trials),
    ...createServerValueRoutes(deps),
    ...createSecretRoutes(deps),
    ...createUpkeepRoutes(deps),
  ];
  return [...routes, ...createDocumentationRoutes(deps, routes)];
}
