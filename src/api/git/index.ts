import { notes } from "./notes.ts";
import { refs } from "./refs.ts";

/** The routes of notes and refs. Of two paths that fit a request, the one listed first answers. */
export const gitRoutes = [notes, refs];
