import type { FailureCode } from "../../kernel/failures.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";

/** A name of a server whose tools nobody has seen yet: it may be there once the server has come up. */
export class UnseenServer extends GatewayError {
  readonly instance: InstanceId;

  constructor(instance: InstanceId, code: FailureCode, message: string) {
    super(code, message);
    this.instance = instance;
  }
}
