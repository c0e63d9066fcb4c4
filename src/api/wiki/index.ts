import { wikiPages } from "./pages.ts";

/** The routes of wikis. */
export const wikiRoutes = [wikiPages];
