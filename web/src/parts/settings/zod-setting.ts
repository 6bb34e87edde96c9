import { config } from "zod";

// It makes code of its schemas, which the policy of the page forbids. Imported before whatever makes schemas.
config({ jitless: true });
