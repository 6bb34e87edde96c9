import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { startLive } from "./api/live.ts";
import { followEvents, followSession, queryClient } from "./api/queries.ts";
import { findSession, followOtherTabs } from "./api/session.ts";
import { router } from "./router.tsx";
import { startTheme } from "./theme.ts";
import "./style.css";

// After an update, a page that is still open asks for files that were removed.
addEventListener("vite:preloadError", (event) => {
  const mark = "toolyard-reloaded";
  if (sessionStorage.getItem(mark) !== null) return;
  sessionStorage.setItem(mark, "1");
  event.preventDefault();
  location.reload();
});

startTheme();
followSession();
void findSession();
followOtherTabs();
followEvents();
startLive();

const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>,
  );
