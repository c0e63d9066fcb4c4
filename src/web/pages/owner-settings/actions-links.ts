/** The links of the parts about Actions, by their paths below that of the settings. */
export const ACTIONS_LINKS = {
  "/actions/secrets": "Secrets",
  "/actions/variables": "Variables",
  "/actions/runners": "Runners",
} as const;
