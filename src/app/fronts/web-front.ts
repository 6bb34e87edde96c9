import { fileURLToPath } from "node:url";
import { createDashboard, type Dashboard } from "../../front/web/dashboard.ts";
import type { PublicUrl } from "../../front/http/public-url.ts";

/** The dashboard's files stand beside those of the program. Loaded at the first request for one of them. */
export function loadDashboard({ publicUrl }: { readonly publicUrl: PublicUrl }): Dashboard {
  return createDashboard({ folder: dashboardFolder, publicUrl });
}

const dashboardFolder = fileURLToPath(new URL("../web/", import.meta.url));
