import { z } from "zod";

import { LIST_START, ListPosition } from "./list-position.ts";

/** Where a list inside an issue or merge request goes on. */
const PartCursor = z.object({
  /** The id of the issue or merge request, which is the next one of its list. */
  id: z.int(),
  /** The page, from 1; 0 is before the first one. */
  page: z.int().nonnegative(),
  /** How many items of the page are done. */
  doneCount: z.int().nonnegative(),
});
export type PartCursor = z.infer<typeof PartCursor>;

const GitLabCursor = z.object({
  /** See `Numbering`: what was decided at the first page holds for all. */
  numbering: z.string(),
  /** The page of lists with numbered pages. */
  page: z.int().positive().default(1),
  /** The position in lists of issues and merge requests, and of their items. */
  position: ListPosition.default(LIST_START),
  /** Whether the issues are done, for what both have. */
  isAtPulls: z.boolean().default(false),
  part: PartCursor.optional(),
});
/** Where a kind of items goes on. Only what is not at its start is written. */
export type GitLabCursor = z.infer<typeof GitLabCursor>;

/** Where the next page begins; the reader adds the numbering. */
export type NextCursor = Omit<z.input<typeof GitLabCursor>, "numbering">;

/** @throws Error if the text is no cursor: it was not made here. */
export const parseCursor = (text: string): GitLabCursor => GitLabCursor.parse(JSON.parse(text));

export const formatCursor = (cursor: z.input<typeof GitLabCursor>): string =>
  JSON.stringify(cursor);
