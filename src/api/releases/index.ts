import { releaseAssets } from "./assets.ts";
import { releaseNotes } from "./notes.ts";
import { releases } from "./releases.ts";

/** The routes of releases. When two paths match a request, the one listed first handles it. */
export const releaseRoutes = [releaseNotes, releases, releaseAssets];
