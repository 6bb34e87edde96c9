/** What a login uses of the SDK. Named one by one, so that the build leaves out the rest of it. */
export {
  discoverAuthorizationServerMetadata,
  exchangeAuthorization,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
