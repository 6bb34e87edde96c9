import type { FailureCode } from "../../../kernel/failures/failures.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";

/** Thrown for a name of a server whose tools are still unknown. The tool may exist once the server is up. */
export class UnseenServer extends GatewayError {
  readonly instance: InstanceId;

  constructor(instance: InstanceId, code: FailureCode, message: string) {
    super(code, message);
    this.instance = instance;
  }
}
