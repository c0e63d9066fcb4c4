import { isDraftTitle } from "../shapes/issues/issue.ts";

/** The title of a pull request that says whether it is a draft, as titles here do. */
export const draftTitleOf = (title: string, isDraft: boolean): string =>
  isDraft && !isDraftTitle(title) ? `WIP: ${title}` : title;
