import type { IncomingMessage } from "node:http";
import { requestPath } from "../../front/http/request-path.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Authenticator } from "../../people/identity/authenticator.ts";
import type { InstanceTokens } from "../../people/identity/instance-tokens.ts";
import type { AuditFacts } from "../../records/audit/audit-log.ts";
import type { GatewayAudit } from "../records/audit-wing.ts";
import { watchRefusals } from "./denials.ts";

/** Credentials, with an entry for each that was refused, made or taken back. */
export interface AuditedAccess {
  readonly authenticator: Authenticator;
  readonly instanceTokens: InstanceTokens;
}

export interface AuditedAccessDeps extends AuditedAccess {
  readonly audit: GatewayAudit;
}

export function auditAccess({ authenticator, instanceTokens, audit }: AuditedAccessDeps): AuditedAccess {
  if (!audit.isOn) return { authenticator, instanceTokens };

  function noteRefusal(request: IncomingMessage, error: GatewayError): void {
    audit.deny(toDenial(request, error));
  }

  function tokens(action: string, instance: InstanceId, principal: PrincipalId): AuditFacts {
    return { actor: principal, via: "rest", action, object: instance };
  }

  return {
    authenticator: {
      get open() {
        return authenticator.open;
      },
      authenticate: (request) => watchRefusals(request, () => authenticator.authenticate(request), noteRefusal),
    },
    instanceTokens: {
      ...instanceTokens,
      authenticate: (request, instance) =>
        watchRefusals(request, () => instanceTokens.authenticate(request, instance), noteRefusal),
      async issue(instance, principal) {
        const token = await instanceTokens.issue(instance, principal);
        // A token whose entry cannot be written is never shown, so that it cannot be used.
        await audit.order(tokens("token.issue", instance, principal));
        return token;
      },
      async revoke(instance, principal) {
        const revoked = await instanceTokens.revoke(instance, principal);
        if (revoked > 0)
          await audit.order({ ...tokens("token.revoke", instance, principal), detail: { tokens: revoked } });
        return revoked;
      },
    },
  };
}

/** A request that was refused for who sent it. Its query is left out, because a token may stand there. */
export function toDenial(request: IncomingMessage, failure: GatewayError, principal?: Principal): AuditFacts {
  return {
    actor: principal?.id ?? "unknown",
    team: principal?.team ?? null,
    via: "http",
    action: "access",
    object: requestPath(request.url ?? "/").slice(0, longestPath),
    outcome: "denied",
    ip: request.socket.remoteAddress ?? null,
    detail: { code: failure.code, method: request.method },
  };
}

const longestPath = 200;
