import { isDraftTitle } from "../shapes/issues/issue.ts";

/** The title of a pull request, with the prefix of drafts here if it is one. */
export const draftTitleOf = (title: string, isDraft: boolean): string =>
  isDraft && !isDraftTitle(title) ? `WIP: ${title}` : title;
