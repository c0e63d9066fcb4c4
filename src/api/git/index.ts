import { notes } from "./notes.ts";
import { refs } from "./refs.ts";

/**
 * The routes of notes and refs. When two paths match a request, the one listed first handles it.
 */
export const gitRoutes = [notes, refs];
