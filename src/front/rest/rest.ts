import type { RestHandler } from "../http/http-server.ts";
import { createTextCache } from "../../operations/cached-text.ts";
import type { Operation } from "../../operations/operation.ts";
import { createTrialTurns } from "../../operations/servers/trial-turns.ts";
import type { Services } from "../../operations/services.ts";
import { createRestQuestions } from "../../operations/tools/asked-questions.ts";
import { createResourceLeases } from "../../operations/tools/resource-leases.ts";
import { createRestApp } from "./app.ts";
import type { RestDeps, Route } from "./route.ts";
import { createExecuteHandler } from "./execute/execute-handler.ts";
import { operationRoute } from "./operation-route.ts";
import { describeExecute } from "./execute/execution-run.ts";
import { createDocumentationRoutes } from "./document/documentation.ts";
import { createSessionListRoutes } from "./routes-session-list.ts";
import { createSessionRoutes } from "./routes-session.ts";
import { createEventRoutes } from "./routes-events.ts";
import { createProtocolRoutes } from "./routes-protocol.ts";
import { createInstanceStatusRoutes } from "./routes-instance-status.ts";
import { createSystemRoutes, createUpkeepRoutes } from "./routes-system.ts";
import { instanceLoginOperations } from "../../operations/servers/instance-login-operations.ts";
import { databaseOperations, ownerOperations } from "../../operations/gateway/database-operations.ts";
import { auditOperations } from "../../operations/records/audit-operations.ts";
import { machineOperations } from "../../operations/gateway/machine-operations.ts";
import { configOperations } from "../../operations/gateway/config-operations.ts";
import { nodeOperations } from "../../operations/gateway/node-operations.ts";
import { callOperations } from "../../operations/records/call-operations.ts";
import { historyOperations, logOperations } from "../../operations/records/log-operations.ts";
import { instanceOperations } from "../../operations/servers/instance-operations.ts";
import { pinOperations } from "../../operations/tools/pin-operations.ts";
import { profileOperations } from "../../operations/tools/profile-operations.ts";
import { approvalOperations } from "../../operations/tools/approval-operations.ts";
import { policyOperations } from "../../operations/tools/policy-operations.ts";
import { definitionOperations } from "../../operations/tools/definition-operations.ts";
import { keptSearchOperations } from "../../operations/tools/kept-search-operations.ts";
import { namespaceOperations } from "../../operations/tools/namespace-operations.ts";
import { promptOperations } from "../../operations/tools/prompt-operations.ts";
import { resourceOperations } from "../../operations/tools/resource-operations.ts";
import { searchOperations } from "../../operations/tools/search-operations.ts";
import { serverDetailOperations } from "../../operations/servers/server-detail-operations.ts";
import { catalogOperations } from "../../operations/servers/catalog-operations.ts";
import { serverOrderOperations } from "../../operations/servers/server-order-operations.ts";
import { serverVariableOperations } from "../../operations/servers/server-variable-operations.ts";
import { sandboxOperations } from "../../operations/servers/sandbox-operations.ts";
import { serverEntryOperations } from "../../operations/servers/server-entry-operations.ts";
import { unlistedOperations, serverOperations } from "../../operations/servers/server-operations.ts";
import { statusOperations } from "../../operations/records/status-operations.ts";
import { supportOperations, systemOperations } from "../../operations/gateway/support-operations.ts";
import { toolOperations } from "../../operations/tools/tool-operations.ts";
import { toolRuleOperations } from "../../operations/tools/tool-rule-operations.ts";
import { inviteOperations } from "../../operations/people/invite-operations.ts";
import { installationOperations } from "../../operations/installations/installation-operations.ts";
import { installationCheckOperations } from "../../operations/installations/installation-check-operations.ts";
import { secretOperations } from "../../operations/installations/secret-operations.ts";
import { serverValueOperations } from "../../operations/installations/server-value-operations.ts";
import { templateOperations } from "../../operations/installations/template-operations.ts";
import { accountOperations } from "../../operations/people/account-operations.ts";
import { accessOperations } from "../../operations/people/access-operations.ts";
import { clientOperations } from "../../operations/people/client-operations.ts";
import { meOperations } from "../../operations/people/me-operations.ts";
import { memberOperations } from "../../operations/people/member-operations.ts";
import { teamOperations } from "../../operations/people/team-operations.ts";
import { userOperations } from "../../operations/people/user-operations.ts";
import { usageOperations } from "../../operations/records/usage-operations.ts";

/** The REST API as a request handler. It does not listen itself. */
export function createRest(deps: RestDeps): RestHandler {
  const services = toServices(deps);
  const app = createRestApp(deps, createRoutes(deps, services));
  const execute = createExecuteHandler(deps, services.questions);
  return (request, response) => {
    if (!execute(request, response)) app(request, response);
  };
}

function toServices(deps: RestDeps): Services {
  const leases = createResourceLeases(deps);
  const [texts, questions, trials] = [
    createTextCache(),
    createRestQuestions(deps.elsewhere),
    createTrialTurns(deps.clock),
  ];
  return { ...deps, texts, questions, trials, leases };
}

/** Every route that there is: each says who may use it. */
export function createRoutes(deps: RestDeps, services = toServices(deps)): readonly Route[] {
  const of = (operations: readonly Operation[]): readonly Route[] =>
    operations.map((operation) => operationRoute(deps, services, operation));
  const routes = [
    ...of(namespaceOperations),
    ...describeExecute(),
    ...of(toolOperations),
    ...of(toolRuleOperations),
    ...of(searchOperations),
    ...of(approvalOperations),
    ...of(policyOperations),
    ...of(definitionOperations),
    ...of(keptSearchOperations),
    ...of(pinOperations),
    ...of(profileOperations),
    ...of(resourceOperations),
    ...of(promptOperations),
    ...of(serverOperations),
    ...of(unlistedOperations),
    ...of(serverDetailOperations),
    ...of(serverEntryOperations),
    ...of(sandboxOperations),
    ...of(instanceOperations),
    ...of(instanceLoginOperations),
    ...createInstanceStatusRoutes(deps),
    ...of(statusOperations),
    ...of(callOperations),
    ...of(logOperations),
    ...of(historyOperations),
    ...of(auditOperations),
    ...of(supportOperations),
    ...of(systemOperations),
    ...of(ownerOperations),
    ...createSystemRoutes(deps),
    ...createEventRoutes(deps),
    ...createProtocolRoutes(deps),
    ...of(usageOperations),
    ...createSessionRoutes(deps),
    ...createSessionListRoutes(deps),
    ...of(configOperations),
    ...of(machineOperations),
    ...of(serverOrderOperations),
    ...of(catalogOperations),
    ...of(serverVariableOperations),
    ...of(meOperations),
    ...of(userOperations),
    ...of(accountOperations),
    ...of(accessOperations),
    ...of(clientOperations),
    ...of(teamOperations),
    ...of(memberOperations),
    ...of(inviteOperations),
    ...of(templateOperations),
    ...of(installationOperations),
    ...of(installationCheckOperations),
    ...of(serverValueOperations),
    ...of(secretOperations),
    ...createUpkeepRoutes(deps),
    ...of(databaseOperations),
    ...of(nodeOperations),
  ];
  return [...routes, ...createDocumentationRoutes(deps, routes)];
}
